internal import Basics
internal import DequeModule
internal import EventLoop
internal import Kafka

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
        /// The metadata of the committed offset has little room left for what is done beyond the offset.
        static let metadata = HoldReasons(rawValue: 4)
        /// What was read and waits to begin takes all the memory that it may.
        static let memory = HoldReasons(rawValue: 8)
        /// The brokers refuse to commit its offsets, because its topic is not there or may not be read.
        static let commit = HoldReasons(rawValue: 16)
        /// Records of it are in `held`.
        static let care = HoldReasons(rawValue: 32)
    }

    let id: AssignedPartition
    /// The index of its topic among those of `topics.requests`.
    let topicIndex: Int
    var tracker = OffsetTracker()
    /// The requests taken and not finished.
    private(set) var requests: [OffsetTracker.Slot: any TakenRequest] = [:]
    var holdReasons: HoldReasons = []
    /// Records that were read and may not simply begin, in the order of the log: see `CarefulIntake`.
    var held: Deque<ConsumerRecord> = []
    /// The memory that the partition's requests take which were read and have not begun, in bytes.
    var waitingBytes = 0
    /// The requests that were read and have not begun: see `WaitingRoom`.
    var waiting: [OffsetTracker.Slot: RequestInProgress] = [:]
    /// The partition goes to another member: what was read of it and not taken yet is left to that one.
    var isLeaving = false
    /// The newest search of each session.
    var sessions = SessionSearches()
    private let metadataLimit: MetadataLimit
    /// Where the group began, as it stands beside the offset at which it did.
    private var startNote = (text: "", offset: Int64(-1))
    /// The commit that need not be handed out again.
    private var lastCommit: CommittedOffset?
    /// What the group has committed, as far as the assignment and the transactions since have shown it.
    private(set) var committed: CommittedOffset?
    /// Where the partition stands while nothing of it is delivered: where the group stood at the assignment, or at the first record.
    private var base: Int64?
    /// The notes about crashes: those of former owners, and those of this one.
    var watch = CrashWatch()
    /// Notes about crashes that the brokers must have before anything goes on.
    private var awaitedNotes: CrashNotes?
    private var confirmedNotes = CrashNotes()
    /// The part of its limit that the metadata took last, from 0 to 1; more than that where something was left out.
    private(set) var metadataUse = 0.0
    /// The part of it that what former owners had done takes, as far as its records have not been handed over. Only reading on makes
    /// that less.
    private(set) var inheritedUse = 0.0
    private var pendingDeadLetters: Set<OffsetTracker.Slot> = []
    private var deadLetterWrite = Condition()

    init(_ id: AssignedPartition, topicIndex: Int = 0, metadataLimit: MetadataLimit) {
        self.id = id
        self.topicIndex = topicIndex
        self.metadataLimit = metadataLimit
    }

    var isIdle: Bool { requests.isEmpty }

    /// The oldest unfinished request, if it is in `waiting`.
    var oldestWaiting: RequestInProgress? { tracker.oldestSlot.flatMap { waiting[$0] } }

    func add(_ request: any TakenRequest) { requests[request.slot] = request }

    func remove(_ request: any TakenRequest) { requests[request.slot] = nil }

    /// True until the request has ended.
    func has(_ request: any TakenRequest) -> Bool { requests[request.slot] != nil }

    // MARK: - What is committed

    /// Takes over what the group has committed, before the first record is taken.
    func begin(at committed: CommittedOffset, with metadata: CommitMetadata) {
        self.committed = committed
        tracker.inherit(metadata.done, from: committed.offset)
        startNote = (metadata.startNote, committed.offset)
        base = committed.offset
        watch.inherit(metadata.crashes)
        confirmedNotes = metadata.crashes
    }

    /// Returns what is to be committed, if that changed since the last call.
    func takeProgress() -> CommittedOffset? {
        guard tracker.takeNews(), let progress = progress else { return nil }
        let commit = commit(of: progress, atMost: metadataLimit.bytes)
        guard commit != lastCommit || awaitedNotes != nil else { return nil }
        lastCommit = commit
        return commit
    }

    /// Returns what a transaction without outcomes is to commit, if that was not committed or left already.
    ///
    /// It leaves nothing out, because outcomes may have been published by what was committed before.
    func uncommittedProgress() -> CommittedOffset? {
        guard tracker.hasNews, let progress = progress else { return nil }
        let commit = commit(of: progress, atMost: .max)
        return commit == lastCommit && awaitedNotes == nil ? nil : commit
    }

    private var progress: OffsetTracker.Progress? { tracker.progress(from: awaitedNotes == nil ? nil : base) }

    /// Notes what a transaction has committed.
    func noteCommitted(_ commit: CommittedOffset) {
        committed = commit
        leave(commit)
    }

    /// Has a commit not handed out again before more is done.
    func leave(_ commit: CommittedOffset) {
        let saysNothing = commit == CommitMetadata.proof(at: commit.offset)
        lastCommit = saysNothing ? CommittedOffset(commit.offset) : commit
    }

    /// Returns what a transaction commits that holds the outcomes of some requests.
    ///
    /// It leaves nothing out: what a transaction publishes must be in what it commits. `publishable` has seen to the room.
    func commit(publishing slots: Set<OffsetTracker.Slot>) -> CommittedOffset? {
        guard let progress = tracker.progress(with: slots) else { return nil }
        if isPutBack(.transactionPassesGaps), let end = progress.done.end { return CommittedOffset(end) }
        return commit(of: progress, atMost: .max)
    }

    /// Returns a commit that moves nothing, for a text beside the offset by which the brokers can show that they keep it.
    /// - Returns: `nil` where no record was taken yet.
    func proof() -> CommittedOffset? {
        tracker.position.map { CommitMetadata.proof(at: $0) }
    }

    /// Returns those of some ready requests whose outcomes may be published now, because what is committed with them can say that
    /// they are done: all of them, or as many of the oldest as there is room for.
    ///
    /// Where the commit can say nothing beyond its offset, that is the unbroken run of them from the oldest open request on. A ready
    /// request that is not among them ends the run: its outcome has to go alone, or waits for its topic.
    func publishable(_ slots: [OffsetTracker.Slot]) -> [OffsetTracker.Slot] {
        if metadataLimit.bytes > 0 {
            var count = slots.count
            while count > 0 {
                if fits(slots.prefix(count)) { return Array(slots.prefix(count)) }
                count /= 2
            }
        }

        let leaving = Set(slots)
        return Array(tracker.readySlots(atMost: slots.count, inOneRun: true).prefix(while: leaving.contains))
    }

    private func fits(_ slots: ArraySlice<OffsetTracker.Slot>) -> Bool {
        guard let progress = tracker.progress(with: Set(slots)) else { return true }
        return text(for: progress.next, done: progress.done, atMost: metadataLimit.bytes).cut == nil
    }

    private func commit(of progress: OffsetTracker.Progress, atMost limit: Int) -> CommittedOffset {
        let text = text(for: progress.next, done: progress.done, atMost: limit)
        metadataUse = metadataLimit.use(of: text)

        let inherited = tracker.inherited
        inheritedUse = 0
        if !inherited.isEmpty, let next = tracker.nextToTake {
            inheritedUse = metadataLimit.use(of: self.text(for: next, done: inherited, atMost: limit))
        }
        return CommittedOffset(progress.next, metadata: text.text)
    }

    /// - Parameter crashes: `nil`: what is noted now.
    private func text(
        for offset: Int64, done: DoneSet, crashes: CrashNotes? = nil, atMost limit: Int
    ) -> DoneSet.Text {
        var metadata = CommitMetadata()
        if notesCrashes { metadata.crashes = crashes ?? watch.notes }
        if offset == startNote.offset { metadata.startNote = startNote.text }
        metadata.done = done
        return metadata.text(for: offset, atMost: limit, notes: metadataLimit.bytesOfNotes)
    }

    // MARK: - Crashes

    /// False where too little is kept beside an offset. Crashes are not noted there.
    private var notesCrashes: Bool { metadataLimit.bytesOfNotes > 0 }

    /// True while the partition's records may not simply begin.
    var needsCare: Bool { watch.needsNote && notesCrashes }

    /// True while records that are read of the partition go to `held`.
    var holdsRecords: Bool { !held.isEmpty || needsCare }

    /// True while the partition's records begin in small steps, because a process has crashed with it.
    var isWatched: Bool { watch.isWatched && notesCrashes }

    /// True while what former owners had under way runs alone.
    var isCareful: Bool { watch.isCareful && notesCrashes }

    func permission(for offset: Int64) -> CrashWatch.Permission {
        notesCrashes ? watch.permission(for: offset) : .runs
    }

    /// True for a record that a process has ended with while it ran alone.
    func isSuspect(_ offset: Int64) -> Bool { notesCrashes && watch.isSuspect(offset) }

    /// Notes that some records are about to begin. `isNoted` says when they may.
    func willBegin(_ offsets: ClosedRange<Int64>, count: Int, at now: Instant) {
        watch.willBegin(before: offsets.upperBound + 1, count: count, at: now)
        awaitNotes(before: offsets.lowerBound)
    }

    /// Notes that some records are about to be read, of which each may begin before others that were read earlier. `isNoted` says when.
    /// - Parameter offsets: Theirs, in ascending order.
    func willRead(_ offsets: [Int64], at now: Instant) {
        guard let first = offsets.first else { return }
        watch.willRead(offsets, beside: underWay, atMost: bytesOfRunning, at: now)
        awaitNotes(before: first)
    }

    /// Notes that some of the records that were read are about to begin. `isNoted` says when they may.
    func willBegin(_ offsets: [Int64], at now: Instant) {
        guard let first = offsets.min() else { return }
        watch.willBegin(offsets, beside: underWay, atMost: bytesOfRunning, at: now)
        awaitNotes(before: first)
    }

    private var underWay: [Int64] { requests.values.map(\.offset) }

    /// The most bytes of notes that name records by themselves, so that one that runs alone can be noted as well.
    private var bytesOfRunning: Int { max(0, metadataLimit.bytesOfNotes - CrashNotes.bytesOfSuspect) }

    /// Notes that a record is about to be run alone. `isNoted` says when it may.
    func willRunAlone(_ offset: Int64, at now: Instant) {
        watch.willRunAlone(offset, at: now)
        awaitNotes(before: offset)
    }

    /// Returns what is to be committed if the process crashes while it runs a record alone: that the record is to be set aside.
    func commitOnCrash(with offset: Int64) -> CommittedOffset? {
        guard notesCrashes, let progress = tracker.progress(from: base) else { return nil }
        let text = text(
            for: progress.next, done: progress.done, crashes: watch.notes(ofCrashWith: offset),
            atMost: metadataLimit.allowed)
        return CommittedOffset(progress.next, metadata: text.text)
    }

    /// Looks whether what former owners have noted is of the past.
    func reviewCrashes(at now: Instant) {
        guard let position = tracker.position else { return }
        watch.review(position: position, at: now)
        // The brokers may keep less by now.
        watch.fit(into: metadataLimit.bytesOfNotes)
        // What is waited for is what the next commit says.
        if awaitedNotes != nil { awaitedNotes = watch.notes }
    }

    /// Notes that this owner ends in order. Nothing of the partition may be under way any more.
    func sayGoodbye() {
        guard watch.hasBegun else { return }
        watch.sayGoodbye()
        if let base = base ?? tracker.position { awaitNotes(before: base) }
    }

    private func awaitNotes(before offset: Int64) {
        // Other notes may be on their way to the brokers, which are of the past by now.
        guard notesCrashes, watch.notes != confirmedNotes || awaitedNotes != nil else { return awaitedNotes = nil }
        if base == nil { base = offset }
        awaitedNotes = watch.notes
        tracker.renewNews()
    }

    /// Has notes that are not committed yet handed out again.
    func renewNotes() {
        if awaitedNotes != nil { tracker.renewNews() }
    }

    /// Has the notes committed once more although the brokers have them. `isNoted` then says that the group takes commits.
    func repeatNotes() {
        awaitedNotes = watch.notes
        tracker.renewNews()
    }

    /// True unless notes are to be committed before anything goes on. Where the brokers refuse that for the topic's sake, nothing more is
    /// read, and what was read has no others wait.
    var isNoted: Bool { awaitedNotes == nil || !notesCrashes || holdReasons.contains(.commit) }

    /// Notes that the brokers have committed an offset with its notes.
    func noteConfirmed(_ committed: CommittedOffset) {
        guard awaitedNotes != nil else { return }
        switch CommitMetadata.read(committed) {
        case .known(let metadata): confirmedNotes = metadata.crashes
        case .nothing: confirmedNotes = CrashNotes()
        case .copied, .foreign: return
        }
        if confirmedNotes == awaitedNotes { awaitedNotes = nil }
    }

    // MARK: - Giving up

    /// Abandons everything in flight. The partition's next owner does it again.
    func giveUp() {
        for request in requests.values { request.end(as: .abandoned) }
        deadLetterWrite.broadcast()
    }

    /// Abandons the requests that have cost nothing: the partition's next owner runs them as if they had never been taken.
    ///
    /// Without done-sets, requests before the last one that has cost something go on, because the next owner would begin at the
    /// oldest unfinished one and pay for all behind it again. So they do where outcomes are to keep an order, which one that is
    /// left to the next owner would break.
    func giveUpUnpaid(inOrder: Bool = false) {
        defer { deadLetterWrite.broadcast() }
        if metadataLimit.bytes > 0, !inOrder {
            for request in requests.values where !request.hasCost { request.end(as: .abandoned) }
            return
        }

        let paid = requests.values.lazy.filter(\.hasCost).map(\.slot).max()
        let lastPaid = [paid, tracker.lastSlotBeforeDelivered].compactMap { $0 }.max()

        for request in requests.values where lastPaid.map({ request.slot > $0 }) ?? true {
            request.end(as: .abandoned)
        }
    }

    /// Abandons what has overtaken a request that is left to the partition's next owner, so that its outcome does not leave before that
    /// one's, even if it is paid for again.
    func giveUpWhatOvertook(_ slot: OffsetTracker.Slot) {
        for request in requests.values where request.hasOvertaken && request.slot > slot { request.end(as: .abandoned) }
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
