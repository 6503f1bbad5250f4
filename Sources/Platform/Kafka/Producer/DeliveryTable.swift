/// The records on their way, each in an entry of its own from its hand-over until somebody has been told what became of it.
///
/// A class, so that a callback may hand the next record over at once. Belongs to the producer's actor.
final class DeliveryTable {
    typealias Report = Result<RecordPosition, KafkaError>

    private enum Slot {
        case free
        case underway
        case awaited(UnsafeContinuation<Report, Never>)
        /// Nobody waits: this is called.
        case told((Report) -> Void)
        case reported(Report)
    }
    private var slots: [Slot] = []
    /// The size of each entry's record.
    private var sizes: [Int] = []
    private var freeSlots: [Int] = []
    /// How many records are handed over and not yet reported.
    private(set) var undelivered = 0
    /// The size of their values.
    private(set) var undeliveredBytes = 0

    /// Finds an entry for a record. Give it to `begin` or to `cancel` next.
    func reserve() -> Int {
        if let slot = freeSlots.popLast() { return slot }
        slots.append(.free)
        sizes.append(0)
        return slots.count - 1
    }

    /// Gives a reserved entry back unused.
    func cancel(_ slot: Int) { freeSlots.append(slot) }

    /// Notes that the record of a reserved entry is on its way.
    /// - Parameter bytes: The size of its value.
    func begin(_ slot: Int, bytes: Int) {
        undelivered += 1
        undeliveredBytes += bytes
        sizes[slot] = bytes
        slots[slot] = .underway
    }

    /// Has a record's report told to `listener`, now or when it comes.
    func tell(_ slot: Int, listener: @escaping (Report) -> Void) { expect(.told(listener), on: slot) }

    /// Hands the report on a record to `waiter`, now or as soon as it comes.
    func await(_ slot: Int, _ waiter: UnsafeContinuation<Report, Never>) { expect(.awaited(waiter), on: slot) }

    /// The one way to a receiver: a report that is there already, as that on a record which librdkafka refuses at once, is
    /// handed out and not overwritten.
    private func expect(_ receiver: Slot, on slot: Int) {
        let former = slots[slot]
        slots[slot] = receiver
        if case .reported(let report) = former { settle(slot, report) }
    }

    /// Takes the report on a record.
    func finish(_ slot: Int, _ report: Report) {
        undelivered -= 1
        if sizes.indices.contains(slot) { undeliveredBytes -= sizes[slot] }
        settle(slot, report)
    }

    /// Reports `error` on every record that is still on its way. Each still counts as unconfirmed.
    func fail(with error: KafkaError) {
        for slot in slots.indices { settle(slot, .failure(error)) }
    }

    private func settle(_ slot: Int, _ report: Report) {
        guard slots.indices.contains(slot) else { return }
        switch slots[slot] {
        case .underway: slots[slot] = .reported(report)
        case .awaited(let waiter):
            release(slot)
            waiter.resume(returning: report)
        case .told(let listener):
            release(slot)
            listener(report)
        case .free, .reported: break
        }
    }

    private func release(_ slot: Int) {
        slots[slot] = .free
        freeSlots.append(slot)
    }
}
