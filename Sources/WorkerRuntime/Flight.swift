internal import EventContract
internal import Kafka
internal import LocationSearch

/// One request from its record to its delivered outcome. Confined to its lane; not `Sendable`.
final class Flight {
    /// What is to become of it.
    enum Fate {
        /// Its outcome will be published.
        case running
        /// A newer request of its session came: its outcome is `superseded`.
        case superseded
        /// Its partition is no longer ours, or the worker gave up waiting: no outcome, its offset stays unfinished.
        case abandoned
    }

    let record: IncomingRecord
    let partition: OwnedPartition
    let slot: OffsetTracker.Slot
    private(set) var fate = Fate.running
    /// Whether its outcome is handed to the producer: from then on nothing can stop it.
    var isPublishing = false
    var task: Task<Void, Never>?
    let note = CallNote()
    /// Ready for a transaction, with `worker.delivery=exactly-once`.
    var outgoing: WorkerLane.Outgoing?

    init(record: IncomingRecord, partition: OwnedPartition, slot: OffsetTracker.Slot) {
        self.record = record
        self.partition = partition
        self.slot = slot
    }

    var offset: Int64 { record.source.offset }

    /// Whether something would be paid for or published again if another worker ran it anew.
    var hasCost: Bool { isPublishing || outgoing != nil || note.hasCalled }

    /// Ends the work on it: its transfer is aborted. Does nothing once its outcome is on its way.
    func end(as fate: Fate) {
        guard !isPublishing, self.fate != .abandoned else { return }
        self.fate = fate
        task?.cancel()
    }
}

/// One partition for as long as it is ours: a new assignment of it is a new object, so that whatever comes late for
/// the old one changes nothing. Confined to its lane; not `Sendable`.
final class OwnedPartition {
    let id: AssignedPartition
    var tracker = OffsetTracker()
    /// The frontier last handed to the consumer.
    private var storedFrontier: Int64?
    var flights: [ObjectIdentifier: Flight] = [:]
    /// Reading stopped because too many records wait behind an unfinished one.
    var isHeld = false
    /// It goes to another member: what was read of it and not taken yet is left to that one.
    var isLeaving = false
    /// The newest search of each session that is in flight.
    var sessions: [String: Flight] = [:]

    init(_ id: AssignedPartition) { self.id = id }

    var isIdle: Bool { flights.isEmpty }

    /// Ends those at its end that have cost nothing yet: whoever has it next runs them as if they had not been taken.
    /// Those before the last that has cost something go on, or that one would be run again with them.
    func giveUpUnpaid() {
        var last = tracker.lastFinished
        for flight in flights.values where flight.hasCost { last = max(last ?? flight.slot, flight.slot) }
        for flight in flights.values where last.map({ flight.slot > $0 }) ?? true { flight.end(as: .abandoned) }
    }

    /// The frontier, if it moved since the last call.
    func newFrontier() -> Int64? {
        guard let frontier = tracker.frontier, frontier != storedFrontier else { return nil }
        storedFrontier = frontier
        return frontier
    }
}
