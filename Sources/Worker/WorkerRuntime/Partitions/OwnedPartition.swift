internal import Basics
internal import DequeModule
internal import EventLoop
internal import Kafka

/// One partition for as long as it is assigned to this lane. Each assignment is a new object, so that late results of
/// an old one change nothing.
///
/// Confined to its lane; not `Sendable`.
final class OwnedPartition {
    /// The reasons why reading of a partition is paused.
    struct HoldReasons: OptionSet {
        let rawValue: UInt8

        /// Too many records wait behind an undelivered one.
        static let span = HoldReasons(rawValue: 1)
        /// The dead letter of an invalid record is not written yet.
        static let deadLetter = HoldReasons(rawValue: 2)
        /// The commit metadata has little room left for the done-set.
        static let metadata = HoldReasons(rawValue: 4)
        /// The waiting requests use all the memory that they may.
        static let memory = HoldReasons(rawValue: 8)
        /// The brokers refuse to commit its offsets, because its topic does not exist or must not be read.
        static let commit = HoldReasons(rawValue: 16)
        /// Some of its records are in `held`.
        static let care = HoldReasons(rawValue: 32)
    }

    let id: AssignedPartition
    /// The index of its topic among `topics.requests`.
    let topicIndex: Int
    var tracker = OffsetTracker()
    /// The requests taken and not finished.
    private(set) var requests: [OffsetTracker.Slot: any TakenRequest] = [:]
    var holdReasons: HoldReasons = []
    /// Undecoded records for careful intake, in the order of the log: see `CarefulIntake`.
    var held: Deque<ConsumerRecord> = []
    /// The bytes of memory of the partition's waiting requests.
    var waitingBytes = 0
    /// The requests that were read and have not begun: see `WaitingRoom`.
    var waiting: [OffsetTracker.Slot: RequestInProgress] = [:]
    /// True once the partition is being revoked: its next owner processes the records that were read and not taken.
    var isLeaving = false
    /// The newest search of each session.
    var sessions = SessionSearches()
    private let metadataLimit: MetadataLimit
    /// The group's starting point, and the offset with which it was committed.
    private var startNote = (text: "", offset: Int64(-1))
    /// The last commit that was returned, or that need not be returned.
    private var lastCommit: CommittedOffset?
    /// The offset that the group has committed, as far as known from the assignment and later transactions.
    private(set) var committed: CommittedOffset?
    /// The partition's offset before any delivery: the committed offset at the assignment, or the first record.
    private var base: Int64?
    /// The crash notes of former owners and of this one.
    var watch = CrashWatch()
    /// The crash notes that the brokers must have before any record begins.
    private var awaitedNotes: CrashNotes?
    private var confirmedNotes = CrashNotes()
    /// The fraction of its limit that the last metadata used, from 0 to 1; more if a part did not fit.
    private(set) var metadataUse = 0.0
    /// The fraction that the former owners' done offsets used, as far as they have not been read. Only further reading
    /// reduces it.
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

    // MARK: - Commits

    /// Takes over the group's committed offset and metadata, before the first record is taken.
    func begin(at committed: CommittedOffset, with metadata: CommitMetadata) {
        self.committed = committed
        tracker.inherit(metadata.done, from: committed.offset)
        startNote = (metadata.startNote, committed.offset)
        base = committed.offset
        watch.inherit(metadata.crashes)
        confirmedNotes = metadata.crashes
    }

    /// Returns the offset to commit, if it has changed since the last call.
    func takeProgress() -> CommittedOffset? {
        guard tracker.takeNews(), let progress = progress else { return nil }
        let commit = commit(of: progress, atMost: metadataLimit.bytes)
        guard commit != lastCommit || awaitedNotes != nil else { return nil }
        lastCommit = commit
        return commit
    }

    /// Returns the offset that a transaction without outcomes must commit, if it was not committed or skipped already.
    ///
    /// It omits no part of the done-set, because earlier commits may have published outcomes with it.
    func uncommittedProgress() -> CommittedOffset? {
        guard tracker.hasNews, let progress = progress else { return nil }
        let commit = commit(of: progress, atMost: .max)
        return commit == lastCommit && awaitedNotes == nil ? nil : commit
    }

    private var progress: OffsetTracker.Progress? { tracker.progress(from: awaitedNotes == nil ? nil : base) }

    /// Records the offset that a transaction has committed.
    func noteCommitted(_ commit: CommittedOffset) {
        committed = commit
        leave(commit)
    }

    /// Prevents a commit from being returned again before more records are done.
    func leave(_ commit: CommittedOffset) {
        let isProof = commit == CommitMetadata.proof(at: commit.offset)
        lastCommit = isProof ? CommittedOffset(commit.offset) : commit
    }

    /// Returns the commit of a transaction that holds the outcomes of these requests.
    ///
    /// It omits no part of the done-set: the commit must contain all published outcomes. `publishable` has checked that
    /// there is room.
    func commit(publishing slots: Set<OffsetTracker.Slot>) -> CommittedOffset? {
        guard let progress = tracker.progress(with: slots) else { return nil }
        return commit(of: progress, atMost: .max)
    }

    /// Returns a commit that moves no offset, and whose metadata lets the brokers show that they store it.
    /// - Returns: `nil` before the first record is taken.
    func proof() -> CommittedOffset? {
        tracker.position.map { CommitMetadata.proof(at: $0) }
    }

    /// Returns those of the ready requests whose outcomes may be published now: all, or as many of the oldest as the
    /// commit metadata has room for.
    ///
    /// If the commit can have no done-set, that is the unbroken run of requests from the oldest open one on. A ready
    /// request that is not in `slots` ends the run: its outcome needs a separate transaction, or waits for its topic.
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

    /// - Parameter crashes: `nil`: the present notes.
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

    /// False if too little metadata is stored. Crashes are not noted then.
    private var notesCrashes: Bool { metadataLimit.bytesOfNotes > 0 }

    /// True while the partition's records may not begin without care.
    var needsCare: Bool { watch.needsNote && notesCrashes }

    /// True while the partition's new records go to `held`.
    var holdsRecords: Bool { !held.isEmpty || needsCare }

    /// True while the partition's records begin in small steps, because a former owner crashed.
    var isWatched: Bool { watch.isWatched && notesCrashes }

    /// True while the records that former owners had in flight run in isolation.
    var isCareful: Bool { watch.isCareful && notesCrashes }

    func permission(for offset: Int64) -> CrashWatch.Permission {
        notesCrashes ? watch.permission(for: offset) : .runs
    }

    /// True for a record that ran in isolation when a process crashed.
    func isSuspect(_ offset: Int64) -> Bool { notesCrashes && watch.isSuspect(offset) }

    /// Notes that records are about to begin. They may begin once `isNoted`.
    func willBegin(_ offsets: ClosedRange<Int64>, count: Int, at now: Instant) {
        watch.willBegin(before: offsets.upperBound + 1, count: count, at: now)
        awaitNotes(before: offsets.lowerBound)
    }

    /// Notes that records are about to be read, each of which may begin before earlier ones. They may be read once
    /// `isNoted`.
    /// - Parameter offsets: the offsets of the records, in ascending order.
    func willRead(_ offsets: [Int64], at now: Instant) {
        guard let first = offsets.first else { return }
        watch.willRead(offsets, beside: underWay, atMost: bytesOfRunning, at: now)
        awaitNotes(before: first)
    }

    /// Notes that waiting records are about to begin. They may begin once `isNoted`.
    func willBegin(_ offsets: [Int64], at now: Instant) {
        guard let first = offsets.min() else { return }
        watch.willBegin(offsets, beside: underWay, atMost: bytesOfRunning, at: now)
        awaitNotes(before: first)
    }

    private var underWay: [Int64] { requests.values.map(\.offset) }

    /// The most bytes of notes that list single records. The rest is reserved for the note of a record in isolation.
    private var bytesOfRunning: Int { max(0, metadataLimit.bytesOfNotes - CrashNotes.bytesOfSuspect) }

    /// Notes that a record is about to run in isolation. It may begin once `isNoted`.
    func willRunAlone(_ offset: Int64, at now: Instant) {
        watch.willRunAlone(offset, at: now)
        awaitNotes(before: offset)
    }

    /// Returns the commit for a crash while a record runs in isolation: its notes set the record aside.
    func commitOnCrash(with offset: Int64) -> CommittedOffset? {
        guard notesCrashes, let progress = tracker.progress(from: base) else { return nil }
        let text = text(
            for: progress.next, done: progress.done, crashes: watch.notes(ofCrashWith: offset),
            atMost: metadataLimit.allowed)
        return CommittedOffset(progress.next, metadata: text.text)
    }

    /// Clears the notes of former owners once the partition has made progress.
    func reviewCrashes(at now: Instant) {
        guard let position = tracker.position else { return }
        watch.review(position: position, at: now)
        // The brokers may accept less metadata by now.
        watch.fit(into: metadataLimit.bytesOfNotes)
        // The next commit contains these notes.
        if awaitedNotes != nil { awaitedNotes = watch.notes }
    }

    /// Removes this owner's try from the notes, because it ends in order. By then, no request of the partition may be
    /// in flight.
    func noteOrderlyEnd() {
        guard watch.hasBegun else { return }
        watch.noteOrderlyEnd()
        if let base = base ?? tracker.position { awaitNotes(before: base) }
    }

    private func awaitNotes(before offset: Int64) {
        // Outdated notes may be in flight to the brokers.
        guard notesCrashes, watch.notes != confirmedNotes || awaitedNotes != nil else { return awaitedNotes = nil }
        if base == nil { base = offset }
        awaitedNotes = watch.notes
        tracker.renewNews()
    }

    /// Returns uncommitted notes again at the next `takeProgress`.
    func renewNotes() {
        if awaitedNotes != nil { tracker.renewNews() }
    }

    /// Commits the notes once more although the brokers have them. `isNoted` then shows that the group accepts commits.
    func repeatNotes() {
        awaitedNotes = watch.notes
        tracker.renewNews()
    }

    /// True unless notes must be committed before more records begin. If the brokers refuse commits because of the
    /// topic, the partition is not read further, and its records do not block others.
    var isNoted: Bool { awaitedNotes == nil || !notesCrashes || holdReasons.contains(.commit) }

    /// Records that the brokers have committed an offset with its notes.
    func noteConfirmed(_ committed: CommittedOffset) {
        guard awaitedNotes != nil else { return }
        switch CommitMetadata.read(committed) {
        case .known(let metadata): confirmedNotes = metadata.crashes
        case .nothing: confirmedNotes = CrashNotes()
        case .copied, .foreign: return
        }
        if confirmedNotes == awaitedNotes { awaitedNotes = nil }
    }

    // MARK: - Abandoning

    /// Abandons all requests. The partition's next owner processes them again.
    func giveUp() {
        for request in requests.values { request.end(as: .abandoned) }
        deadLetterWrite.broadcast()
    }

    /// Abandons the requests that were not billed: the partition's next owner runs them as if they had never been
    /// taken.
    ///
    /// Without done-sets, requests before the last billed one continue. The next owner would otherwise begin at the
    /// oldest unfinished request, and pay again for all behind it. They also continue if outcomes must keep an order,
    /// which an abandoned request would break.
    func abandonUnbilled(inOrder: Bool = false) {
        defer { deadLetterWrite.broadcast() }
        if metadataLimit.bytes > 0, !inOrder {
            for request in requests.values where !request.wasBilled { request.end(as: .abandoned) }
            return
        }

        let paid = requests.values.lazy.filter(\.wasBilled).map(\.slot).max()
        let lastPaid = [paid, tracker.lastSlotBeforeDelivered].compactMap { $0 }.max()

        for request in requests.values where lastPaid.map({ request.slot > $0 }) ?? true {
            request.end(as: .abandoned)
        }
    }

    /// Abandons the requests that overtook an abandoned one. Otherwise their outcomes would be published before that
    /// request's outcome. They may be billed again.
    func abandonOvertaking(_ slot: OffsetTracker.Slot) {
        for request in requests.values where request.hasOvertaken && request.slot > slot { request.end(as: .abandoned) }
    }

    // MARK: - Dead letters

    /// Makes later requests of the partition wait until this record's dead letter is written.
    ///
    /// If the letter cannot be written, the record and all behind it stay unfinished. If later outcomes were published
    /// meanwhile, each restart would publish them, and pay for them, again.
    func expectDeadLetter(of slot: OffsetTracker.Slot) { pendingDeadLetters.insert(slot) }

    /// - Returns: `true` if it was the last one expected.
    func deadLetterIsWritten(of slot: OffsetTracker.Slot) -> Bool {
        guard pendingDeadLetters.remove(slot) != nil else { return false }
        deadLetterWrite.broadcast()
        return pendingDeadLetters.isEmpty
    }

    func awaitsDeadLetter(before slot: OffsetTracker.Slot) -> Bool {
        !pendingDeadLetters.isEmpty && pendingDeadLetters.contains { $0 < slot }
    }

    /// Returns once the dead letters of all earlier records are written, or the request is abandoned.
    func waitForDeadLetters(before request: any TakenRequest) async {
        func mustWait() -> Bool { request.fate != .abandoned && awaitsDeadLetter(before: request.slot) }

        while mustWait() {
            await suspend(unless: !mustWait()) { deadLetterWrite.add($0) }
        }
    }
}
