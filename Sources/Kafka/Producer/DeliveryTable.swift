/// The records on their way, each in a slot of its own from its hand-over until somebody has been told what became of it.
/// Belongs to the producer's actor.
struct DeliveryTable {
    /// The result of writing a record.
    typealias Report = Result<RecordPosition, KafkaError>

    private enum Slot {
        case free
        case underway
        case awaited(UnsafeContinuation<Report, Never>)
        case reported(Report)
    }
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// How many records are handed over and not yet reported.
    private(set) var undelivered = 0

    /// Finds a slot for a record. Give it to `begin` or to `cancel` next.
    mutating func reserve() -> Int {
        if let slot = freeSlots.popLast() { return slot }
        slots.append(.free)
        return slots.count - 1
    }

    /// Gives a reserved slot back unused.
    mutating func cancel(_ slot: Int) { freeSlots.append(slot) }

    /// Notes that the record of a reserved slot is on its way.
    mutating func begin(_ slot: Int) {
        undelivered += 1
        slots[slot] = .underway
    }

    /// Hands the report on a record to `waiter`, now or as soon as it comes.
    mutating func await(_ slot: Int, _ waiter: UnsafeContinuation<Report, Never>) {
        if case .reported(let report) = slots[slot] {
            release(slot)
            waiter.resume(returning: report)
        } else {
            slots[slot] = .awaited(waiter)
        }
    }

    /// Takes the report on a record.
    mutating func finish(_ slot: Int, _ report: Report) {
        undelivered -= 1
        settle(slot, report)
    }

    /// Reports `error` on every record that is still on its way. Each still counts as undelivered.
    mutating func fail(with error: KafkaError) {
        for slot in slots.indices { settle(slot, .failure(error)) }
    }

    private mutating func settle(_ slot: Int, _ report: Report) {
        guard slots.indices.contains(slot) else { return }
        switch slots[slot] {
        case .underway: slots[slot] = .reported(report)
        case .awaited(let waiter):
            release(slot)
            waiter.resume(returning: report)
        case .free, .reported: break
        }
    }

    private mutating func release(_ slot: Int) {
        slots[slot] = .free
        freeSlots.append(slot)
    }
}
