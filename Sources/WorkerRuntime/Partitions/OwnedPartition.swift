internal import EventLoop
internal import Kafka
internal import LocationSearch

/// One partition for as long as it is assigned to this lane. A new assignment of it is a new object, so that whatever
/// comes late for the old one changes nothing.
///
/// Confined to its lane; not `Sendable`.
final class OwnedPartition {
    /// Why nothing more is read from a partition for the time being.
    struct HoldReasons: OptionSet {
        let rawValue: UInt8

        /// Too many records wait behind one that is not delivered.
        static let span = HoldReasons(rawValue: 1)
        /// The dead letter of a record that is no request is not written yet.
        static let deadLetter = HoldReasons(rawValue: 2)
    }

    let id: AssignedPartition
    var tracker = OffsetTracker()
    /// The requests taken and not finished.
    private(set) var requests: [OffsetTracker.Slot: any TakenRequest] = [:]
    var holdReasons: HoldReasons = []
    /// The partition goes to another member: what was read of it and not taken yet is left to that one.
    var isLeaving = false
    /// The newest search of each session.
    var sessions = SessionSearches()
    private var lastStoredFrontier: Int64?
    private var pendingDeadLetters: Set<OffsetTracker.Slot> = []
    private var deadLetterWrite = Condition()

    init(_ id: AssignedPartition) { self.id = id }

    var isIdle: Bool { requests.isEmpty }

    func add(_ request: any TakenRequest) { requests[request.slot] = request }

    func remove(_ request: any TakenRequest) { requests[request.slot] = nil }

    /// Returns the frontier if it moved since the last call.
    func takeMovedFrontier() -> Int64? {
        guard let frontier = tracker.frontier, frontier != lastStoredFrontier else { return nil }
        lastStoredFrontier = frontier
        return frontier
    }

    // MARK: - Giving up

    /// Abandons everything in flight. The partition's next owner does it again.
    func giveUp() {
        for request in requests.values { request.end(as: .abandoned) }
        deadLetterWrite.broadcast()
    }

    /// Abandons the newest requests as long as they have cost nothing: the partition's next owner runs them as if they
    /// had never been taken. Requests before the last one that has cost something go on, because the next owner
    /// would begin at the oldest unfinished one and pay for all behind it again.
    func giveUpUnpaid() {
        let paid = requests.values.lazy.filter(\.hasCost).map(\.slot).max()
        let lastPaid = [paid, tracker.lastDeliveredSlot].compactMap { $0 }.max()

        for request in requests.values where lastPaid.map({ request.slot > $0 }) ?? true {
            request.end(as: .abandoned)
        }
        deadLetterWrite.broadcast()
    }

    // MARK: - Dead letters

    /// Makes later requests of the partition wait until this record's dead letter is written.
    ///
    /// If the letter cannot be written, the record stays unfinished and so does all behind it. Were later outcomes
    /// published meanwhile, each restart would publish them, and pay for them, again.
    func expectDeadLetter(of slot: OffsetTracker.Slot) { pendingDeadLetters.insert(slot) }

    /// - Returns: `true` when that was the last one expected.
    func deadLetterIsWritten(of slot: OffsetTracker.Slot) -> Bool {
        guard pendingDeadLetters.remove(slot) != nil else { return false }
        deadLetterWrite.broadcast()
        return pendingDeadLetters.isEmpty
    }

    func awaitsDeadLetter(before slot: OffsetTracker.Slot) -> Bool {
        !pendingDeadLetters.isEmpty && pendingDeadLetters.contains { $0 < slot }
    }

    /// Returns once every dead letter of earlier records is written, or the request is no longer wanted.
    func waitForDeadLetters(before request: any TakenRequest) async {
        func mustWait() -> Bool { request.fate != .abandoned && awaitsDeadLetter(before: request.slot) }

        while mustWait() {
            await suspend(unless: !mustWait()) { deadLetterWrite.add($0) }
        }
    }
}
