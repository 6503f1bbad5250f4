internal import DequeModule
internal import EventLoop
internal import Kafka

/// One partition for as long as it is assigned to this lane. Each assignment is a new object, so that late results of
/// an old one change nothing.
///
/// Confined to its lane; not `Sendable`.
final class OwnedPartition {
    /// The reasons why reading of a partition is paused.
    struct PauseReasons: OptionSet {
        let rawValue: UInt8

        /// Too many records wait behind an undelivered one.
        static let span = PauseReasons(rawValue: 1)
        /// The dead letter of an invalid record is not written yet.
        static let deadLetter = PauseReasons(rawValue: 2)
        /// The commit metadata has little room left for the done-set.
        static let metadata = PauseReasons(rawValue: 4)
        /// The waiting requests use all the memory that they may.
        static let memory = PauseReasons(rawValue: 8)
        /// The brokers refuse to commit its offsets, because its topic does not exist or must not be read.
        static let commit = PauseReasons(rawValue: 16)
        /// Some of its records are in `keptRecords`.
        static let care = PauseReasons(rawValue: 32)
    }

    let id: AssignedPartition
    /// The index of its topic among `topics.requests`.
    let topicIndex: Int
    /// The offsets that are done, and their commits.
    var commits: PartitionCommits
    /// The requests taken and not finished, in any order.
    private(set) var requests: [RequestInProgress] = []
    var pauseReasons: PauseReasons = []
    /// Records for careful intake, in the order of the log: see `CarefulIntake`.
    var keptRecords: Deque<ConsumerRecord> = []
    /// True once the partition is being revoked: its next owner processes the records that were read and not taken.
    var isLeaving = false
    /// True once the assignment has ended.
    var hasEnded = false {
        // Requests refer to their partition. Requests that never began would remain in memory with it.
        didSet { sessions = SessionSearches() }
    }
    /// The newest search of each session.
    var sessions = SessionSearches()
    private var pendingDeadLetters: Set<OffsetTracker.Slot> = []
    private var deadLetterWrite = Condition()

    init(_ id: AssignedPartition, topicIndex: Int = 0, metadataLimit: MetadataLimit) {
        self.id = id
        self.topicIndex = topicIndex
        commits = PartitionCommits(metadataLimit: metadataLimit)
    }

    var isIdle: Bool { requests.isEmpty }

    /// False while the oldest unfinished request waits in the waiting room.
    var oldestHasBegun: Bool {
        guard let oldest = commits.tracker.oldestSlot else { return true }
        return requests.contains { $0.slot == oldest }
    }

    /// The offsets of the requests taken and not finished.
    var inProgress: [Int64] { requests.map(\.offset) }

    /// True while the partition's new records go to `keptRecords`.
    var keepsRecords: Bool { !keptRecords.isEmpty || commits.needsCare }

    /// True unless crash notes must be committed before more records begin. If the brokers refuse commits because of
    /// the topic, the partition is not read further, and its records do not block others.
    var isNoted: Bool { commits.isNoted || pauseReasons.contains(.commit) }

    func add(_ request: RequestInProgress) {
        request.index = requests.count
        requests.append(request)
    }

    func remove(_ request: RequestInProgress) {
        guard let index = request.index, let last = requests.popLast() else { return }
        if last !== request {
            requests[index] = last
            last.index = index
        }
        request.index = nil
    }

    // MARK: - Abandoning

    /// Abandons all requests. The partition's next owner processes them again.
    func giveUp() {
        for request in requests { request.end(as: .abandoned) }
        deadLetterWrite.broadcast()
    }

    /// Abandons the requests that were not billed: the partition's next owner runs them as if they had never been
    /// taken.
    ///
    /// Without done-sets, requests up to the last billed one continue: the next owner begins at the oldest unfinished
    /// request, and would pay again for the later ones. With an order of outcomes they continue, too.
    func abandonUnbilled(inOrder: Bool = false) {
        defer { deadLetterWrite.broadcast() }
        if commits.metadataLimit.bytes > 0, !inOrder {
            for request in requests where !request.wasBilled { request.end(as: .abandoned) }
            return
        }

        let paid = requests.lazy.filter(\.wasBilled).map(\.slot).max()
        let lastPaid = [paid, commits.tracker.lastSlotBeforeDelivered].compactMap { $0 }.max()

        for request in requests where lastPaid.map({ request.slot > $0 }) ?? true {
            request.end(as: .abandoned)
        }
    }

    /// Abandons the requests that overtook an abandoned one. Otherwise their outcomes would be published before that
    /// request's outcome. They may be billed again.
    func abandonOvertaking(_ slot: OffsetTracker.Slot) {
        for request in requests where request.hasOvertaken && request.slot > slot { request.end(as: .abandoned) }
    }

    // MARK: - Dead letters

    /// Makes later requests of the partition wait until this record's dead letter is written.
    ///
    /// If the letter cannot be written, the record and all behind it stay unfinished. If later outcomes were published
    /// meanwhile, each restart would publish them, and pay for them, again.
    func expectDeadLetter(of slot: OffsetTracker.Slot) { pendingDeadLetters.insert(slot) }

    var hasPendingDeadLetters: Bool { !pendingDeadLetters.isEmpty }

    /// - Returns: `true` if the record has a dead letter.
    func deadLetterIsWritten(of slot: OffsetTracker.Slot) -> Bool {
        guard !pendingDeadLetters.isEmpty, pendingDeadLetters.remove(slot) != nil else { return false }
        deadLetterWrite.broadcast()
        return true
    }

    func awaitsDeadLetter(before slot: OffsetTracker.Slot) -> Bool {
        !pendingDeadLetters.isEmpty && pendingDeadLetters.contains { $0 < slot }
    }

    /// True while a request that has waited must not begin: the brokers refuse the partition's commits, or an earlier
    /// dead letter is not written. A crash would repeat its call.
    func holdsBack(_ slot: OffsetTracker.Slot) -> Bool {
        pauseReasons.contains(.commit) || awaitsDeadLetter(before: slot)
    }

    /// Returns once the dead letters of all earlier records are written, or the request is abandoned.
    func waitForDeadLetters(before request: RequestInProgress) async {
        func mustWait() -> Bool { request.fate != .abandoned && awaitsDeadLetter(before: request.slot) }

        while mustWait() {
            await suspend(unless: !mustWait()) { deadLetterWrite.add($0) }
        }
    }
}
