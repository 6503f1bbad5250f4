/// The undelivered records, each with its own entry from enqueueing until its delivery report was passed on.
///
/// A class, so that a callback may enqueue the next record at once. Belongs to the producer's actor.
final class DeliveryTable {
    typealias Report = Result<RecordPosition, KafkaError>

    private enum Slot {
        case free
        case underway
        case awaited(UnsafeContinuation<Report, Never>)
        /// No task waits; this callback receives the report.
        case told((Report) -> Void)
        case reported(Report)
    }
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The number of enqueued records without a delivery report.
    private(set) var undelivered = 0

    /// Reserves an entry for a record. Pass it to `begin` or `cancel` next.
    func reserve() -> Int {
        if let slot = freeSlots.popLast() { return slot }
        slots.append(.free)
        return slots.count - 1
    }

    /// Returns a reserved entry unused.
    func cancel(_ slot: Int) { freeSlots.append(slot) }

    /// Marks the record of a reserved entry as enqueued.
    func begin(_ slot: Int) {
        undelivered += 1
        slots[slot] = .underway
    }

    /// Passes a record's delivery report to `listener`, now or when it arrives.
    func tell(_ slot: Int, listener: @escaping (Report) -> Void) { expect(.told(listener), on: slot) }

    /// Resumes `waiter` with a record's delivery report, now or when it arrives.
    func await(_ slot: Int, _ waiter: UnsafeContinuation<Report, Never>) { expect(.awaited(waiter), on: slot) }

    /// Sets the receiver of a report. If the report already exists, because librdkafka rejected the record at once, it
    /// is delivered and not overwritten.
    private func expect(_ receiver: Slot, on slot: Int) {
        let former = slots[slot]
        slots[slot] = receiver
        if case .reported(let report) = former { settle(slot, report) }
    }

    /// Handles the delivery report of a record.
    func finish(_ slot: Int, _ report: Report) {
        undelivered -= 1
        settle(slot, report)
    }

    /// Reports `error` for every record without a delivery report. Each still counts as undelivered.
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
