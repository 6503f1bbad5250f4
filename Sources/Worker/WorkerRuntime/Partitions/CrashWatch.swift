internal import Basics

/// Decides how carefully a lane runs one partition, from the notes of former owners, and maintains this owner's notes.
///
/// A process that crashes leaves its try in the notes. The next owner then begins few records at a time. It notes the
/// last record that it begins, or each record if they may overtake others. After two crashes in a row, the records that
/// may have been in flight run in isolation, as long as `careLeft` lasts. Each is noted before it begins. A record that
/// was running in isolation when three processes crashed is set aside: it is not run again.
struct CrashWatch {
    /// The permission to run a record.
    enum Permission: Equatable {
        /// It may begin among others.
        case runs
        /// It may begin once nothing else is in flight.
        case runsAlone
        /// It must be neither run nor decoded.
        case isSetAside
    }

    /// The number of consecutive crashes after which records run in isolation. One crash may be a failed node. Two
    /// without progress of the partition between them rarely are.
    private static let crashesUntilAlone = 2
    /// The number of processes that must crash while a record runs in isolation before it is set aside. During a
    /// rebalance nothing can be committed, so the note of a finished record may remain when its process is killed. This
    /// was measured in a healthy fleet with continuous rebalances, in which two of six workers were killed every 6 s.
    /// In runs of 200 kills, 3 records were noted at two kills in a row, and 2 records at three. A suspect record
    /// therefore runs in isolation only while the group is stable: see `CarefulIntake`.
    private static let crashesUntilSetAside = 3
    /// The number of records, and the time, for which an owner continues in small steps after a crash. A process has at
    /// most a few hundred records of a partition in flight, so the one that crashed it is among these.
    private static let (watchedRecords, watchedTime) = (1024, Duration.seconds(30))

    /// The time for which one record, and all records of a partition together, may block the process by running in
    /// isolation after two crashes. Each further crash doubles both. They are short, so that a healthy fleet with slow
    /// requests soon continues, and few kills meet a slow record in isolation. A slow record that crashes processes is
    /// found after more crashes.
    private static let (shortestIsolation, shortestCare) = (Duration.seconds(1), Duration.seconds(5))

    /// The notes of former owners, until the partition has made progress.
    private var inherited = CrashNotes()
    /// The notes to commit.
    private(set) var notes = CrashNotes()
    /// Records that are noted and have not begun: those that are being read, and those that begin from the waiting
    /// room.
    private var announced: Set<Int64> = []
    /// The number of records taken since the assignment; counted only while the partition is watched.
    private var taken = 0
    private var watchEnd: Instant?
    /// The total time for which records in isolation have blocked the process.
    private var careSpent = Duration.zero
    private(set) var hasBegun = false

    /// Takes over the notes of former owners, before the first record is taken.
    mutating func inherit(_ former: CrashNotes) {
        inherited = former
        if let suspect = former.suspect, suspect.isRunning {
            inherited.suspect = CrashNotes.Suspect(
                offset: suspect.offset, ends: CrashNotes.next(after: suspect.ends), isRunning: false)
        }
        notes = inherited
    }

    /// True while records begin in small steps, each noted before it is taken.
    var isWatched: Bool { inherited.tries > 0 }

    /// The number of consecutive former owners that crashed.
    var ends: Int { inherited.tries }

    /// True while some records must run in isolation.
    var isCareful: Bool { inherited.tries >= Self.crashesUntilAlone }

    /// The remaining time for which records may block the process by running in isolation.
    var careLeft: Duration { isCareful ? max(.zero, lengthened(Self.shortestCare) - careSpent) : .zero }

    /// The longest time for which the next such record may block the process.
    var nextIsolation: Duration { min(careLeft, lengthened(Self.shortestIsolation)) }

    private func lengthened(_ time: Duration) -> Duration {
        time * (1 << min(inherited.tries - Self.crashesUntilAlone, 10))  // bounded: the exponent is 0 to 10
    }

    /// True until the present try is noted.
    var needsNote: Bool { !hasBegun || isWatched }

    func permission(for offset: Int64) -> Permission {
        if let suspect = inherited.suspect, suspect.offset == offset, suspect.ends >= Self.crashesUntilSetAside {
            return .isSetAside
        }
        return careLeft > .zero && mayHaveBegun(offset) ? .runsAlone : .runs
    }

    /// True for a record that former owners may have begun.
    private func mayHaveBegun(_ offset: Int64) -> Bool {
        offset < (inherited.begun ?? 0) || inherited.running.contains(offset)
    }

    /// True for a record that ran in isolation when a former owner crashed.
    func isSuspect(_ offset: Int64) -> Bool { inherited.suspect.map { $0.offset == offset && $0.ends > 0 } ?? false }

    // MARK: - Records

    private mutating func noteTry() {
        hasBegun = true
        notes.tries = CrashNotes.next(after: inherited.tries)
    }

    /// Notes that records are about to begin.
    /// - Parameters:
    ///   - end: the offset after the last of them.
    ///   - count: the number of these records.
    mutating func willBegin(before end: Int64, count: Int, at now: Instant) {
        noteTry()
        guard isWatched else { return }

        notes.begun = max(end, notes.begun ?? 0)
        taken += count
        if watchEnd == nil { watchEnd = now + Self.watchedTime }
    }

    /// Notes that records are about to be read, each of which may begin before earlier ones.
    /// - Parameters:
    ///   - offsets: the offsets of the records, in ascending order.
    ///   - underWay: the offsets of records in flight.
    ///   - bytes: the most bytes of the notes. If there is too little room, the oldest of the records in flight are
    ///     omitted.
    mutating func willRead(_ offsets: [Int64], beside underWay: [Int64], atMost bytes: Int, at now: Instant) {
        noteTry()
        // These are noted again. Records are read in the order of the log, so earlier offsets will not be read again.
        if let last = offsets.last { inherited.running.removeAll { $0 <= last } }
        noteRunning(offsets, beside: underWay, atMost: bytes, at: now)
    }

    /// Notes that waiting records are about to begin.
    mutating func willBegin(_ offsets: [Int64], beside underWay: [Int64], atMost bytes: Int, at now: Instant) {
        noteRunning(offsets, beside: underWay, atMost: bytes, at: now)
        taken += offsets.count
    }

    /// Records that noted records were read or have begun.
    mutating func haveBegun(_ offsets: some Sequence<Int64>) { announced.subtract(offsets) }

    /// Keeps the records that former owners had in flight and that have not been read yet under suspicion. Also keeps
    /// those that another task has noted and not begun.
    private mutating func noteRunning(
        _ offsets: [Int64], beside underWay: [Int64], atMost bytes: Int, at now: Instant
    ) {
        guard isWatched else { return }
        announced.formUnion(offsets)
        var others = Set(underWay).union(inherited.running).subtracting(announced).sorted()
        notes.running = announced.union(others).sorted()
        while notes.bytes > bytes, !others.isEmpty {
            others.removeFirst(max(1, others.count / 8))
            notes.running = announced.union(others).sorted()
        }
        fit(into: bytes)
        if watchEnd == nil { watchEnd = now + Self.watchedTime }
    }

    /// If the individual offsets do not fit, notes the range of the records that may be in flight instead.
    mutating func fit(into bytes: Int) {
        guard notes.bytes > bytes, let last = notes.running.last else { return }
        notes.begun = max(last.saturatingAdding(1), notes.begun ?? 0)
        notes.running = []
    }

    /// Notes that a record is about to run in isolation.
    mutating func willRunAlone(_ offset: Int64, at now: Instant) {
        if inherited.running.isEmpty {
            willBegin(before: offset + 1, count: 1, at: now)
        } else {
            noteTry()
        }
        let ends = inherited.suspect?.offset == offset ? inherited.suspect?.ends ?? 0 : 0
        notes.suspect = CrashNotes.Suspect(offset: offset, ends: ends, isRunning: true)
    }

    /// Returns the notes for a crash that this process's own fault causes while it runs a record in isolation. The
    /// record is set aside after this single crash, because nothing else can have caused it.
    func notes(ofCrashWith offset: Int64) -> CrashNotes {
        var notes = notes
        notes.suspect = CrashNotes.Suspect(offset: offset, ends: Self.crashesUntilSetAside, isRunning: false)
        return notes
    }

    /// Withdraws the note that a record is about to run in isolation, because it does not begin yet.
    mutating func withdrawAlone() { notes.suspect = inherited.suspect }

    /// Records that a record in isolation has finished.
    mutating func hasRunAlone(_ offset: Int64) {
        notes.suspect = nil
        notes.running.removeAll { $0 == offset }
        inherited.running.removeAll { $0 == offset }
        if inherited.suspect?.offset == offset { inherited.suspect = nil }
    }

    /// Adds time for which a record has blocked the process.
    mutating func spendCare(_ time: Duration) { careSpent += time }

    /// Clears the notes of former owners once the partition has made progress.
    /// - Parameter position: the offset from which the group would continue now.
    mutating func review(position: Int64, at now: Instant) {
        guard hasBegun, isWatched else { return }
        inherited.running.removeAll { $0 < position }
        let isLongAgo = taken >= Self.watchedRecords || watchEnd.map { now >= $0 } ?? false
        // Behind a slow request the position does not move, although the partition makes progress.
        let haveAllRun = position >= (inherited.begun ?? 0) && inherited.running.isEmpty
        let isPast = isCareful && haveAllRun || careLeft == .zero && isLongAgo
        guard isPast else { return }

        // Records behind those that ran in isolation may crash processes too, so they begin in small steps first.
        inherited = CrashNotes(tries: isCareful ? 1 : 0)
        notes = CrashNotes(
            tries: CrashNotes.next(after: inherited.tries), begun: isWatched ? notes.begun : nil,
            running: isWatched ? notes.running : [])
        (taken, watchEnd) = (0, isWatched ? now + Self.watchedTime : nil)
        careSpent = .zero
    }

    /// Removes this owner's try from the notes, because it ends in order.
    mutating func noteOrderlyEnd() {
        notes = inherited
    }
}
