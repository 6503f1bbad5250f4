internal import Kafka

/// The commits of one partition: the offset behind the unbroken run of delivered records, and the metadata with it.
///
/// The metadata holds the done-set and the crash notes of `CrashWatch`. Confined to its lane.
struct PartitionCommits {
    let metadataLimit: MetadataLimit
    var tracker = OffsetTracker()
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
    /// The fraction that the former owners' done offsets used. Only offsets that have not been read yet count, so only
    /// further reading reduces it.
    private(set) var inheritedUse = 0.0

    init(metadataLimit: MetadataLimit) { self.metadataLimit = metadataLimit }

    /// Takes over the group's committed offset and metadata, before the first record is taken.
    mutating func begin(at committed: CommittedOffset, with metadata: CommitMetadata) {
        self.committed = committed
        tracker.inherit(metadata.done, from: committed.offset)
        base = committed.offset
        watch.inherit(metadata.crashes)
        confirmedNotes = metadata.crashes
    }

    /// Returns the offset to commit, if it has changed since the last call.
    mutating func takeProgress() -> CommittedOffset? {
        guard tracker.takeNews(), let progress = progress else { return nil }
        let commit = commit(of: progress, atMost: metadataLimit.bytes)
        guard commit != lastCommit || awaitedNotes != nil else { return nil }
        lastCommit = commit
        return commit
    }

    /// Returns the offset that a transaction without outcomes must commit, if it was not committed or skipped already.
    ///
    /// It omits no part of the done-set, because earlier commits may have published outcomes with it.
    mutating func uncommittedProgress() -> CommittedOffset? {
        guard tracker.hasNews, let progress = progress else { return nil }
        let commit = commit(of: progress, atMost: .max)
        return commit == lastCommit && awaitedNotes == nil ? nil : commit
    }

    private var progress: OffsetTracker.Progress? { tracker.progress(from: awaitedNotes == nil ? nil : base) }

    /// Records the offset that a transaction has committed.
    mutating func noteCommitted(_ commit: CommittedOffset) {
        committed = commit
        leave(commit)
    }

    /// Prevents a commit from being returned again before more records are done.
    mutating func leave(_ commit: CommittedOffset) {
        let isProof = commit == CommitMetadata.proof(at: commit.offset)
        lastCommit = isProof ? CommittedOffset(commit.offset) : commit
    }

    /// Returns the commit of a transaction that holds the outcomes of these requests.
    ///
    /// It omits no part of the done-set: the commit must contain all published outcomes. `publishable` has checked that
    /// there is room.
    mutating func commit(publishing slots: Set<OffsetTracker.Slot>) -> CommittedOffset? {
        guard let progress = tracker.progress(with: slots) else { return nil }
        return commit(of: progress, atMost: .max)
    }

    /// Returns a commit that moves no offset, and whose metadata lets the brokers show that they store it.
    /// - Returns: `nil` before the first record is taken.
    func proof() -> CommittedOffset? {
        tracker.position.map { CommitMetadata.proof(at: $0) }
    }

    /// Returns the ready requests whose outcomes may be published now: all, or as many of the oldest as fit into the
    /// commit metadata.
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

    private mutating func commit(of progress: OffsetTracker.Progress, atMost limit: Int) -> CommittedOffset {
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
    private func text(for offset: Int64, done: DoneSet, crashes: CrashNotes? = nil, atMost limit: Int) -> DoneSet.Text {
        var metadata = CommitMetadata()
        if notesCrashes { metadata.crashes = crashes ?? watch.notes }
        metadata.done = done
        return metadata.text(for: offset, atMost: limit, notes: metadataLimit.bytesOfNotes)
    }

    // MARK: - Crashes

    /// False if too little metadata is stored. Crashes are not noted then.
    private var notesCrashes: Bool { metadataLimit.bytesOfNotes > 0 }

    /// True while the partition's records may not begin without care.
    var needsCare: Bool { watch.needsNote && notesCrashes }

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
    mutating func willBegin(_ offsets: ClosedRange<Int64>, count: Int, at now: Instant) {
        watch.willBegin(before: offsets.upperBound + 1, count: count, at: now)
        awaitNotes(before: offsets.lowerBound)
    }

    /// Notes that records are about to be read, each of which may begin before earlier ones. They may be read once
    /// `isNoted`.
    /// - Parameter offsets: the offsets of the records, in ascending order.
    /// - Parameter inProgress: the offsets of the requests that are taken and not finished.
    mutating func willRead(_ offsets: [Int64], beside inProgress: [Int64], at now: Instant) {
        guard let first = offsets.first else { return }
        watch.willRead(offsets, beside: inProgress, atMost: bytesOfRunning, at: now)
        awaitNotes(before: first)
    }

    /// Notes that waiting records are about to begin. They may begin once `isNoted`.
    mutating func willBegin(_ offsets: [Int64], beside inProgress: [Int64], at now: Instant) {
        guard let first = offsets.min() else { return }
        watch.willBegin(offsets, beside: inProgress, atMost: bytesOfRunning, at: now)
        awaitNotes(before: first)
    }

    /// The most bytes of notes that list single records. The rest is reserved for the note of a record in isolation.
    private var bytesOfRunning: Int { max(0, metadataLimit.bytesOfNotes - CrashNotes.bytesOfSuspect) }

    /// Notes that a record is about to run in isolation. It may begin once `isNoted`.
    mutating func willRunAlone(_ offset: Int64, at now: Instant) {
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
    mutating func reviewCrashes(at now: Instant) {
        guard let position = tracker.position else { return }
        watch.review(position: position, at: now)
        // The brokers may accept less metadata by now.
        watch.fit(into: metadataLimit.bytesOfNotes)
        // The next commit contains these notes.
        if awaitedNotes != nil { awaitedNotes = watch.notes }
    }

    /// Removes this owner's try from the notes, because it ends in order. By then, no request of the partition may be
    /// in flight.
    mutating func noteOrderlyEnd() {
        guard watch.hasBegun else { return }
        watch.noteOrderlyEnd()
        if let base = base ?? tracker.position { awaitNotes(before: base) }
    }

    private mutating func awaitNotes(before offset: Int64) {
        // Outdated notes may be in flight to the brokers.
        guard notesCrashes, watch.notes != confirmedNotes || awaitedNotes != nil else { return awaitedNotes = nil }
        if base == nil { base = offset }
        awaitedNotes = watch.notes
        tracker.renewNews()
    }

    /// Returns uncommitted notes again at the next `takeProgress`.
    mutating func renewNotes() {
        if awaitedNotes != nil { tracker.renewNews() }
    }

    /// Commits the notes once more although the brokers have them. `isNoted` then shows that the group accepts commits.
    mutating func repeatNotes() {
        awaitedNotes = watch.notes
        tracker.renewNews()
    }

    /// True unless notes must be committed before more records begin.
    var isNoted: Bool { awaitedNotes == nil || !notesCrashes }

    /// Records that the brokers have committed an offset with its notes.
    mutating func noteConfirmed(_ committed: CommittedOffset) {
        guard awaitedNotes != nil else { return }
        switch CommitMetadata.read(committed) {
        case .known(let metadata): confirmedNotes = metadata.crashes
        case .nothing: confirmedNotes = CrashNotes()
        case .copied, .foreign: return
        }
        if confirmedNotes == awaitedNotes { awaitedNotes = nil }
    }
}
