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
/// Offsets ascend, with the gaps that compaction and transaction markers leave. A log that was made anew starts over at lower offsets, and
/// has a tracker of its own.
struct OffsetTracker {
    /// Names one record of this tracker. Names compare in the order in which records were taken.
    struct Slot: Hashable, Comparable, Sendable {
        fileprivate let serial: UInt64

        static func < (a: Slot, b: Slot) -> Bool { a.serial < b.serial }
    }

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
        /// It was handed over before, and must not run twice.
        case isKnown
        /// A former owner of the partition has published its outcome.
        case wasDone
    }

    /// A record that is not delivered, with what is delivered between it and the next such record. So a long run of delivered
    /// records behind a slow one takes no room.
    private struct OpenRecord {
        let slot: Slot
        let offset: Int64
        var isReady = false
        /// From the first delivered record behind this one to the last; the gaps of the log between them count as delivered.
        var doneBehind: DoneRun?

        mutating func extend(by run: DoneRun) {
            doneBehind = DoneRun(first: doneBehind?.first ?? run.first, end: run.end)
        }
    }

    /// Delivered records in the order in which they were handed over, without an open one between them.
    private struct DoneRun {
        let first: Int64
        /// One past the last.
        let end: Int64
    }

    private var open: Deque<OpenRecord> = []
    private var nextSerial: UInt64 = 0
    private var lastTakenOffset: Int64 = -1
    /// What former owners had done, as far as it has not been handed over yet.
    private(set) var inherited = DoneSet()
    /// How much of that the log does not hold any more.
    private var inheritedAndGone: Int64 = 0
    /// True when something was delivered, or passed over, since the last call of `takeNews`.
    private(set) var hasNews = false

    /// The offset to continue from: one past the unbroken run of delivered records. `nil` before the first is delivered.
    private(set) var frontier: Int64?

    /// The offset to continue from, also before the first record is delivered; `nil` before one is taken.
    var position: Int64? { frontier ?? open.first?.offset }

    /// The offset behind the record that was taken last; `nil` before the first.
    var nextToTake: Int64? { lastTakenOffset < 0 ? nil : lastTakenOffset + 1 }

    /// The oldest record that is not delivered.
    var oldestSlot: Slot? { open.first?.slot }

    /// The number of records taken and not delivered.
    var undeliveredCount: Int { open.count }

    /// The number of records taken that the frontier has not passed, delivered ones among them.
    var span: Int { open.first.map { Int(nextSerial - $0.slot.serial) } ?? 0 }

    /// The newest record that has a delivered one behind it; `nil` where none has.
    var lastSlotBeforeDelivered: Slot? { open.last { $0.doneBehind != nil }?.slot }

    // MARK: - Records

    /// Takes over what former owners had done. Call it before the first record of the assignment.
    /// - Parameter base: The offset that was committed with the set, where reading begins.
    mutating func inherit(_ done: DoneSet, from base: Int64) {
        guard lastTakenOffset < 0, !done.isEmpty else { return }
        inherited = done
        lastTakenOffset = base - 1
    }

    /// Notes a record before any work on it starts.
    mutating func begin(_ offset: Int64) -> Beginning {
        guard offset > lastTakenOffset else { return .isKnown }
        lastTakenOffset = offset
        let slot = Slot(serial: nextSerial)
        nextSerial += 1
        if !inherited.isEmpty, passOver(offset) { return .wasDone }
        open.append(OpenRecord(slot: slot, offset: offset))
        return .run(slot)
    }

    /// Counts a record as delivered that a former owner had done.
    /// - Returns: `false` for one that is not done.
    private mutating func passOver(_ offset: Int64) -> Bool {
        let isDone = inherited.contains(offset)
        if let first = inherited.runs.first, first.lowerBound < offset { removeInherited(before: offset) }
        inherited.removeAll(before: isDone ? offset + 1 : offset)
        guard isDone else { return false }

        hasNews = true
        if open.isEmpty {
            frontier = offset + 1
        } else {
            open[open.count - 1].extend(by: DoneRun(first: offset, end: offset + 1))
        }
        return true
    }

    /// Leaves out what the log does not hold any more of that which former owners had done.
    private mutating func removeInherited(before offset: Int64) {
        let count = inherited.count
        inherited.removeAll(before: offset)
        inheritedAndGone += count - inherited.count
    }

    /// Counts those of some deleted offsets that former owners had not done. Nothing of them has been handed over.
    mutating func countUndone(among deleted: Range<Int64>) -> Int64 {
        removeInherited(before: deleted.upperBound)
        defer { inheritedAndGone = 0 }
        return max(0, Int64(deleted.count) - inheritedAndGone)
    }

    // MARK: - Marks

    /// Notes that a record's outcome exists. A second call changes nothing.
    mutating func markReady(_ slot: Slot) {
        if let index = index(of: slot) { open[index].isReady = true }
    }

    /// True when the oldest open record is ready.
    var isOldestReady: Bool { open.first?.isReady ?? false }

    /// Returns the ready records, oldest first and at most `limit` of them.
    /// - Parameter inOneRun: Only those that no record without an outcome stands before.
    func readySlots(atMost limit: Int, inOneRun: Bool = false) -> [Slot] {
        let candidates = inOneRun ? open.prefix { $0.isReady } : open[...]
        return Array(candidates.lazy.filter(\.isReady).map(\.slot).prefix(limit))
    }

    /// Notes that the brokers have confirmed a record's outcome. A second call changes nothing.
    mutating func markDelivered(_ slot: Slot) {
        guard let index = index(of: slot) else { return }

        let record = open.remove(at: index)
        let end = record.doneBehind?.end ?? record.offset + 1
        hasNews = true
        if isPutBack(.offsetPassesGaps) { frontier = max(frontier ?? 0, end) }

        guard index == 0 else { return open[index - 1].extend(by: DoneRun(first: record.offset, end: end)) }
        if isPutBack(.gapStopsCommits), let frontier, record.offset != frontier { return }
        frontier = isPutBack(.offsetOneTooFar) ? end + 1 : end
    }

    private func index(of slot: Slot) -> Int? {
        // Most records are delivered in the order in which they were taken.
        if open.first?.slot == slot { return 0 }

        var (low, high) = (0, open.count)
        while low < high {
            let middle = (low + high) / 2
            if open[middle].slot < slot { low = middle + 1 } else { high = middle }
        }
        return low < open.count && open[low].slot == slot ? low : nil
    }

    // MARK: - Progress

    /// Returns whether anything was delivered, or passed over, since the last call.
    mutating func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }

    /// Has the next call of `takeNews` say that there is something.
    mutating func renewNews() { hasNews = true }

    /// Returns how far the partition will have come once some more records are delivered.
    /// - Parameters:
    ///   - records: Those that are delivered then, beside those that are.
    ///   - base: Where the partition stands while nothing is delivered. `nil`: then nothing is returned.
    func progress(with records: Set<Slot> = [], from base: Int64? = nil) -> Progress? {
        var (next, firstOpen): (Int64?, Int64?) = (frontier, nil)
        var done = DoneSet()
        var run: Range<Int64>?
        func add(_ delivered: DoneRun) {
            if firstOpen == nil {
                next = delivered.end
            } else {
                run = (run?.lowerBound ?? delivered.first)..<delivered.end
            }
        }

        for record in open {
            if !records.isEmpty, records.contains(record.slot) {
                add(DoneRun(first: record.offset, end: record.offset + 1))
            } else {
                firstOpen = firstOpen ?? record.offset
                if let ended = run { done.append(ended) }
                run = nil
            }
            if let delivered = record.doneBehind { add(delivered) }
        }
        if let run { done.append(run) }
        for run in inherited.runs { done.append(run) }

        let start = base.map { firstOpen ?? $0 } ?? (done.isEmpty ? nil : firstOpen)
        return (next ?? start).map { Progress(next: $0, done: done) }
    }
}
