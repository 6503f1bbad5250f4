internal import Basics

/// Decides how careful a lane has to be with one partition, by what former owners have noted, and what this owner notes.
///
/// A process that ends without saying goodbye leaves its try in the notes. The next owner then begins few records at a time, and
/// notes how far it begins, or which of them where records may overtake others. After two such ends in a row, the records that may
/// have been under way are run alone, each noted before it begins, as long as `careLeft` lasts. A record that three processes ended
/// with while they ran it alone is set aside: it is not run again.
struct CrashWatch {
    /// What may be done with a record.
    enum Permission: Equatable {
        /// It may begin beside others.
        case runs
        /// It may begin once nothing else is under way.
        case runsAlone
        /// It must not be run, nor be decoded.
        case isSetAside
    }

    /// After so many ends without a goodbye, records are run alone. One may be a node that failed; two in a row, so soon that the
    /// partition had not got on between them, are rarely that.
    private static let endsUntilAlone = 2
    /// The number of processes that end with a record that ran alone before it is set aside. While a group forms nothing can be
    /// committed, so the note of a record that has ended well may stand when its process is killed. In a healthy fleet whose group never
    /// came to rest, two of six workers killed every 6 s, that happened twice in a row to 3 records, and three times to 2, in 200 kills
    /// each. So a record runs alone again only while the group is at rest: see `CarefulIntake`.
    private static let endsUntilSetAside = 3
    /// How many records, and how long, an owner goes on in small steps after an end without a goodbye. A process has at most some
    /// hundred records under way in a partition, so that one that crashed it is among these.
    private static let (watchedRecords, watchedTime) = (1024, Duration.seconds(30))

    /// How long one record, and all of a partition together, may hold the rest of the process up after those ends, and twice as long
    /// after each further one. A healthy fleet that lost two owners in a row, beside slow requests, soon goes on so, and is rarely
    /// hit again while a slow one runs alone. A record that crashes processes is found nevertheless, after more ends where it is slow.
    private static let (shortestTurn, shortestCare) = (Duration.seconds(1), Duration.seconds(5))

    /// What former owners have left, until the partition has got on.
    private var inherited = CrashNotes()
    /// What is to be committed of it.
    private(set) var notes = CrashNotes()
    /// Records that are noted and have not begun yet: those that are being read, and those that begin from the waiting room.
    private var announced: Set<Int64> = []
    /// The records taken since the assignment, while that matters.
    private var taken = 0
    private var watchEnd: Instant?
    /// How long records that ran alone have held the process up.
    private var careSpent = Duration.zero
    private(set) var hasBegun = false

    /// Takes over what former owners have noted, before the first record is taken.
    mutating func inherit(_ former: CrashNotes) {
        inherited = former
        if let suspect = former.suspect, suspect.isRunning {
            inherited.suspect = CrashNotes.Suspect(
                offset: suspect.offset, ends: CrashNotes.next(after: suspect.ends), isRunning: false)
        }
        if isPutBack(.triesNotKept) { inherited.tries = 0 }
        notes = inherited
    }

    /// True while records begin in small steps, each noted before it is taken.
    var isWatched: Bool { inherited.tries > 0 }

    /// The number of former owners in a row that ended without saying goodbye.
    var ends: Int { inherited.tries }

    /// True while some records are to be run alone.
    var isCareful: Bool { inherited.tries >= Self.endsUntilAlone }

    /// How much longer records may hold the process up so that they run alone.
    var careLeft: Duration { isCareful ? max(.zero, lengthened(Self.shortestCare) - careSpent) : .zero }

    /// How long the next of them may.
    var nextTurn: Duration { min(careLeft, lengthened(Self.shortestTurn)) }

    private func lengthened(_ time: Duration) -> Duration {
        time * (1 << min(inherited.tries - Self.endsUntilAlone, 10))  // bounded: as here
    }

    /// True until the present try is noted.
    var needsNote: Bool { !hasBegun || isWatched }

    func permission(for offset: Int64) -> Permission {
        let needed = isPutBack(.setAsideTooEarly) ? 1 : Self.endsUntilSetAside
        if let suspect = inherited.suspect, suspect.offset == offset, suspect.ends >= needed {
            return .isSetAside
        }
        return careLeft > .zero && mayHaveBegun(offset) ? .runsAlone : .runs
    }

    /// True for a record that former owners may have begun.
    private func mayHaveBegun(_ offset: Int64) -> Bool {
        offset < (inherited.begun ?? 0) || inherited.running.contains(offset)
    }

    /// True for a record that a former owner has ended with while it ran alone.
    func isSuspect(_ offset: Int64) -> Bool { inherited.suspect.map { $0.offset == offset && $0.ends > 0 } ?? false }

    // MARK: - Records

    private mutating func noteTry() {
        hasBegun = true
        notes.tries = CrashNotes.next(after: inherited.tries)
    }

    /// Notes that records are about to begin.
    /// - Parameters:
    ///   - end: One past the last of them.
    ///   - count: How many there are.
    mutating func willBegin(before end: Int64, count: Int, at now: Instant) {
        noteTry()
        guard isWatched else { return }

        notes.begun = max(end, notes.begun ?? 0)
        taken += count
        if watchEnd == nil { watchEnd = now + Self.watchedTime }
    }

    /// Notes that some records are about to be read, of which each may begin before others that were read earlier.
    /// - Parameters:
    ///   - offsets: Theirs, in ascending order.
    ///   - underWay: The records that are under way.
    ///   - bytes: The most that the notes may take. Of the records that are under way, the first ones are left out.
    mutating func willRead(_ offsets: [Int64], beside underWay: [Int64], atMost bytes: Int, at now: Instant) {
        noteTry()
        // These are noted anew. Records are read in the order of the log, so what lies before them does not come any more.
        if let last = offsets.last { inherited.running.removeAll { $0 <= last } }
        noteRunning(offsets, beside: underWay, atMost: bytes, at: now)
    }

    /// Notes that records are about to begin which were read before.
    mutating func willBegin(_ offsets: [Int64], beside underWay: [Int64], atMost bytes: Int, at now: Instant) {
        noteRunning(offsets, beside: underWay, atMost: bytes, at: now)
        taken += offsets.count
    }

    /// Notes that records which were about to be read, or to begin, are under way or wait.
    mutating func haveBegun(_ offsets: some Sequence<Int64>) { announced.subtract(offsets) }

    /// Those that former owners had under way, and that are still to be read, stay under suspicion. So do those that another task has
    /// noted and not begun yet.
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

    /// Notes the range of the records that may be under way in place of each, where there is no room for each.
    mutating func fit(into bytes: Int) {
        guard notes.bytes > bytes, let last = notes.running.last else { return }
        notes.begun = max(last.saturatingAdding(1), notes.begun ?? 0)
        notes.running = []
    }

    /// Notes that a record is about to be run alone.
    mutating func willRunAlone(_ offset: Int64, at now: Instant) {
        if inherited.running.isEmpty {
            willBegin(before: offset + 1, count: 1, at: now)
        } else {
            noteTry()
        }
        let ends = inherited.suspect?.offset == offset ? inherited.suspect?.ends ?? 0 : 0
        notes.suspect = CrashNotes.Suspect(offset: offset, ends: ends, isRunning: true)
    }

    /// Returns what the next owner has to know where this process crashes by a fault of its own while it runs a record alone. No further
    /// end is needed then: nothing else can have caused it.
    func notes(ofCrashWith offset: Int64) -> CrashNotes {
        var notes = notes
        notes.suspect = CrashNotes.Suspect(offset: offset, ends: Self.endsUntilSetAside, isRunning: false)
        return notes
    }

    /// Takes the note back that a record is about to run alone, because it does not begin yet.
    mutating func withdrawAlone() { notes.suspect = inherited.suspect }

    /// Notes that a record that ran alone has ended well.
    mutating func hasRunAlone(_ offset: Int64) {
        notes.suspect = nil
        notes.running.removeAll { $0 == offset }
        inherited.running.removeAll { $0 == offset }
        if inherited.suspect?.offset == offset { inherited.suspect = nil }
    }

    /// Counts time for which a record held the process up.
    mutating func spendCare(_ time: Duration) { careSpent += time }

    /// Looks whether the partition has got on, so that what former owners have noted is of the past.
    /// - Parameter position: Where the group would continue now.
    mutating func review(position: Int64, at now: Instant) {
        guard hasBegun, isWatched else { return }
        let isLongAgo = taken >= Self.watchedRecords || watchEnd.map { now >= $0 } ?? false
        // Behind a slow request the position stays where it is, and the partition gets on all the same.
        let haveAllRun = position >= (inherited.begun ?? 0) && inherited.running.isEmpty
        let isPast = isCareful && haveAllRun || careLeft == .zero && isLongAgo
        guard isPast else { return }

        // What comes behind the records that ran alone may hold another one: it begins in small steps first.
        inherited = CrashNotes(tries: isCareful ? 1 : 0)
        notes = CrashNotes(
            tries: CrashNotes.next(after: inherited.tries), begun: isWatched ? notes.begun : nil,
            running: isWatched ? notes.running : [])
        (taken, watchEnd) = (0, isWatched ? now + Self.watchedTime : nil)
        careSpent = .zero
    }

    /// Notes that this owner ends in order: its try counts no more.
    mutating func sayGoodbye() {
        if !isPutBack(.triesNotTakenBack) { notes = inherited }
    }
}
