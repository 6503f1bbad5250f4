internal import Basics
internal import DequeModule

/// Tracks which offsets of one partition are done, for one assignment of it.
///
/// Records finish in any order. The unbroken run of delivered ones moves the frontier, which is the offset that gets committed;
/// what is delivered beyond it is the done-set, which is committed along with the offset. A record passes two marks. It is
/// *ready* once its outcome exists, a mark that only transactions need. It is *delivered* once the brokers have confirmed its
/// outcome.
///
/// A new owner begins with the done-set of the former one: records of it are passed over as they come, and count as delivered.
///
/// The order is the one in which the consumer handed the records over, not that of their offsets: compaction and
/// transaction markers leave gaps, and a log that was truncated or made anew starts over at lower offsets. So a record
/// that is handed over again after the frontier has passed it counts like a new one. The frontier then moves back and
/// forward again, which can repeat work after a crash but never skips any. While it lasts there is no done-set, because
/// offsets then tell nothing of the order.
struct OffsetTracker {
    /// How far a partition has come.
    struct Progress: Hashable {
        /// The offset to continue from.
        var next: Int64
        /// What is delivered beyond it.
        var done: DoneSet
    }

    /// What becomes of a record that the consumer hands over.
    enum Beginning: Equatable {
        /// It is to be run.
        case run(Slot)
        /// It is under way already: it was handed over again, and must not run twice.
        case isUnderWay
        /// A former owner of the partition has published its outcome.
        case wasDone
    }

    /// Names one record of this tracker. Slots compare in the order in which records were taken.
    struct Slot: Hashable, Comparable, Sendable {
        fileprivate let serial: UInt64

        static func < (a: Slot, b: Slot) -> Bool { a.serial < b.serial }
    }

    private enum Mark {
        case taken
        case ready
        case delivered
    }

    private struct Entry {
        let offset: Int64
        var mark = Mark.taken
    }

    /// The records from the oldest unfinished one on.
    private var entries: Deque<Entry> = []
    private var firstSerial: UInt64 = 0
    private var lastTakenOffset: Int64 = -1
    /// What former owners had done, as far as it has not been handed over yet.
    private var inherited = DoneSet()
    /// True unless a record under way has a lower offset than one before it.
    private var isAscending = true
    /// True when something was delivered, or passed over, since the last call of `takeNews`.
    private var hasNews = false

    /// The offset to continue from: one past the unbroken run of delivered records. `nil` before the first is delivered.
    private(set) var frontier: Int64?

    /// The offset behind the record that was taken last; `nil` before the first.
    var nextToTake: Int64? { lastTakenOffset < 0 ? nil : lastTakenOffset + 1 }

    /// The number of records taken and not delivered.
    private(set) var undeliveredCount = 0

    /// The number of records taken that the frontier has not passed, delivered ones among them.
    var span: Int { entries.count }

    /// The newest record that is delivered although the frontier has not passed it; `nil` when there is none.
    var lastDeliveredSlot: Slot? {
        entries.lastIndex { $0.mark == .delivered }.map(slot(at:))
    }

    /// Takes over what former owners had done. Call it before the first record of the assignment.
    /// - Parameter base: The offset that was committed with the set, where reading begins.
    mutating func inherit(_ done: DoneSet, from base: Int64) {
        guard lastTakenOffset < 0, !done.isEmpty else { return }
        inherited = done
        // A record before it is one of another log: see `begin`.
        lastTakenOffset = base - 1
    }

    /// Notes a record before any work on it starts.
    mutating func begin(_ offset: Int64) -> Beginning {
        if offset <= lastTakenOffset {
            if entries.contains(where: { $0.offset == offset }) { return .isUnderWay }
            isAscending = entries.isEmpty
            inherited = DoneSet()
        }

        lastTakenOffset = offset
        if !inherited.isEmpty, passOver(offset) { return .wasDone }
        entries.append(Entry(offset: offset))
        undeliveredCount += 1
        return .run(slot(at: entries.count - 1))
    }

    /// Counts a record as delivered that a former owner had done.
    /// - Returns: `false` for one that is not done.
    private mutating func passOver(_ offset: Int64) -> Bool {
        let isDone = inherited.contains(offset)
        inherited.removeAll(before: isDone ? offset + 1 : offset)
        guard isDone else { return false }

        entries.append(Entry(offset: offset, mark: .delivered))
        hasNews = true
        if entries.count == 1 { moveFrontier() }
        return true
    }

    // MARK: - Marks

    /// Notes that a record's outcome exists. A second call changes nothing.
    mutating func markReady(_ slot: Slot) {
        if let index = index(of: slot), entries[index].mark == .taken { entries[index].mark = .ready }
    }

    /// True when the oldest record is ready.
    var isOldestReady: Bool { entries.first?.mark == .ready }

    /// Returns the unbroken run of ready records from the oldest on, at most `limit` of them.
    func readyRun(atMost limit: Int) -> [Slot] {
        entries.prefix(limit).prefix { $0.mark == .ready }.indices.map(slot(at:))
    }

    /// Returns the ready records, oldest first and at most `limit` of them, whether or not earlier ones are ready.
    func readySlots(atMost limit: Int) -> [Slot] {
        var slots: [Slot] = []
        for index in entries.indices where entries[index].mark == .ready {
            if slots.count == limit { break }
            slots.append(slot(at: index))
        }
        return slots
    }

    /// Notes that the brokers have confirmed a record's outcome. A second call changes nothing.
    mutating func markDelivered(_ slot: Slot) {
        guard let index = index(of: slot), entries[index].mark != .delivered else { return }

        entries[index].mark = .delivered
        undeliveredCount -= 1
        hasNews = true

        if isPutBack(.offsetPassesGaps) { frontier = max(frontier ?? 0, entries[index].offset + 1) }
        if index == 0 { moveFrontier() }
    }

    private mutating func moveFrontier() {
        while let first = entries.first, first.mark == .delivered {
            if isPutBack(.gapStopsCommits), let frontier, first.offset != frontier { return }
            frontier = first.offset + 1
            if isPutBack(.offsetOneTooFar) { frontier = first.offset + 2 }
            entries.removeFirst()
            firstSerial += 1
        }
        if entries.isEmpty { isAscending = true }
    }

    // MARK: - Progress

    /// Returns whether anything was delivered, or passed over, since the last call.
    mutating func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }

    /// Has the next call of `takeNews` say that there is something.
    mutating func renewNews() { hasNews = true }

    /// True when the done-set can say what is delivered beyond the frontier.
    var canTellDone: Bool { isAscending }

    /// Returns how far the partition will have come once some more records are delivered; `nil` where nothing is delivered.
    /// - Parameter slots: The records that are delivered then, beside those that are.
    func progress(with slots: Set<Slot> = []) -> Progress? {
        func isDone(_ index: Int) -> Bool {
            entries[index].mark == .delivered || (!slots.isEmpty && slots.contains(slot(at: index)))
        }

        let firstOpen = entries.indices.first { !isDone($0) } ?? entries.endIndex
        let passed = firstOpen > entries.startIndex ? entries[firstOpen - 1].offset + 1 : nil
        let frontier = passed ?? frontier
        guard isAscending else { return frontier.map { Progress(next: $0, done: DoneSet()) } }

        let done = doneSet(behind: firstOpen, isDone: isDone)
        let first = firstOpen < entries.endIndex ? entries[firstOpen].offset : nil
        guard let next = frontier ?? (done.isEmpty ? nil : first) else { return nil }
        return Progress(next: next, done: done)
    }

    /// A gap of the log between two done records belongs to their run: it costs nothing.
    private func doneSet(behind firstOpen: Int, isDone: (Int) -> Bool) -> DoneSet {
        var done = DoneSet()
        var run: Range<Int64>?
        for index in firstOpen..<entries.endIndex {
            let offset = entries[index].offset
            if isDone(index) {
                run = (run?.lowerBound ?? offset)..<(offset + 1)
            } else if let ended = run {
                done.append(ended)
                run = nil
            }
        }
        if let run { done.append(run) }
        for run in inherited.runs { done.append(run) }
        return done
    }

    private func slot(at index: Int) -> Slot { Slot(serial: firstSerial + UInt64(index)) }

    private func index(of slot: Slot) -> Int? {
        guard slot.serial >= firstSerial else { return nil }
        let index = Int(slot.serial - firstSerial)
        return index < entries.count ? index : nil
    }
}
