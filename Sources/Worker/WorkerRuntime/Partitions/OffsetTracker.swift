internal import Basics
internal import DequeModule

/// Tracks which offsets of one partition are done, for one assignment of it.
///
/// Records finish in any order. The frontier is the end of the unbroken run of delivered records, and is the offset to
/// commit. The records delivered beyond it form the done-set, which is committed with the offset. A record is *ready*
/// once its outcome exists, which matters only for transactions. It is *delivered* once the brokers have acknowledged
/// its outcome.
///
/// A new owner begins with the former owner's done-set: its records are skipped as they are read, and count as
/// delivered.
///
/// Offsets ascend, with the gaps that compaction and transaction markers leave. A log that was created again starts at
/// lower offsets and has a separate tracker.
struct OffsetTracker {
    /// Identifies one record of this tracker. Identifiers compare in the order in which records were taken.
    struct Slot: Hashable, Comparable, Sendable {
        fileprivate let serial: UInt64

        static func < (a: Slot, b: Slot) -> Bool { a.serial < b.serial }
    }

    /// The progress of a partition.
    struct Progress: Hashable {
        /// The offset to continue from.
        var next: Int64
        /// The offsets that are delivered beyond it.
        var done: DoneSet
    }

    /// The decision about a record that the consumer returns.
    enum Beginning: Equatable {
        /// The record is to be run.
        case run(Slot)
        /// It was returned before, and must not run twice.
        case isKnown
        /// A former owner of the partition has published its outcome.
        case wasDone
    }

    /// An undelivered record, with the range of delivered records before the next undelivered one. A long run of
    /// delivered records behind a slow one therefore takes no memory.
    private struct OpenRecord {
        let slot: Slot
        let offset: Int64
        var isReady = false
        /// The range of delivered records behind this one. Gaps of the log between them count as delivered.
        var doneBehind: DoneRun?

        mutating func extend(by run: DoneRun) {
            doneBehind = DoneRun(first: doneBehind?.first ?? run.first, end: run.end)
        }
    }

    /// A range of delivered records without an open one between them.
    private struct DoneRun {
        let first: Int64
        /// The offset after the last.
        let end: Int64
    }

    private var open: Deque<OpenRecord> = []
    private var nextSerial: UInt64 = 0
    /// The last offset that was taken or passed; at first, the one before the start.
    private var lastTakenOffset: Int64 = -1
    /// The offsets of the last gap between the last read record and the end of the partition.
    private var lastGap: Range<Int64>?
    /// The former owners' done offsets that have not been read yet.
    private(set) var inherited = DoneSet()
    /// The number of those offsets that are not in the log any longer.
    private var inheritedAndGone: Int64 = 0
    /// True if a record was delivered or skipped, or a gap passed, since the last call of `takeNews`.
    private(set) var hasNews = false

    /// The offset to continue from: the end of the unbroken run of delivered records and gaps. `nil` before the first.
    private(set) var frontier: Int64?

    /// The offset to continue from, even before the first delivery; `nil` before a record is taken.
    var position: Int64? { frontier ?? open.first?.offset }

    /// The offset of the next record to take; `nil` until it is known.
    var nextToTake: Int64? { lastTakenOffset < 0 ? nil : lastTakenOffset + 1 }

    /// The oldest undelivered record.
    var oldestSlot: Slot? { open.first?.slot }

    /// The number of records taken and not delivered.
    var undeliveredCount: Int { open.count }

    /// The number of taken records beyond the frontier, including delivered ones.
    var span: Int { open.first.map { Int(nextSerial - $0.slot.serial) } ?? 0 }

    /// The newest undelivered record with a delivered one behind it; `nil` if there is none.
    var lastSlotBeforeDelivered: Slot? { open.last { $0.doneBehind != nil }?.slot }

    // MARK: - Records

    /// Takes over the done-set of former owners. Call it before the first record of the assignment.
    /// - Parameter base: the offset that was committed with the set, at which reading begins.
    mutating func inherit(_ done: DoneSet, from base: Int64) {
        guard lastTakenOffset < 0 else { return }
        inherited = done
        lastTakenOffset = base - 1
    }

    /// Registers a record before any work on it starts.
    mutating func begin(_ offset: Int64) -> Beginning {
        guard offset > lastTakenOffset else { return .isKnown }
        lastTakenOffset = offset
        let slot = Slot(serial: nextSerial)
        nextSerial += 1
        if !inherited.isEmpty, passOver(offset) { return .wasDone }
        open.append(OpenRecord(slot: slot, offset: offset))
        return .run(slot)
    }

    /// Counts a record that a former owner had done as delivered.
    /// - Returns: `false` if the record is not done.
    private mutating func passOver(_ offset: Int64) -> Bool {
        let isDone = inherited.contains(offset)
        if let first = inherited.runs.first, first.lowerBound < offset { removeInherited(before: offset) }
        inherited.removeAll(before: isDone ? offset + 1 : offset)
        guard isDone else { return false }

        hasNews = true
        if open.isEmpty {
            frontier = offset + 1
            passGap()
        } else {
            open[open.count - 1].extend(by: DoneRun(first: offset, end: offset + 1))
        }
        return true
    }

    /// Removes inherited offsets that the log has skipped.
    private mutating func removeInherited(before offset: Int64) {
        let count = inherited.count
        inherited.removeAll(before: offset)
        inheritedAndGone += count - inherited.count
    }

    /// Counts the deleted offsets that former owners had not done. They have not been read.
    mutating func countUndone(among deleted: Range<Int64>) -> Int64 {
        removeInherited(before: deleted.upperBound)
        defer { inheritedAndGone = 0 }
        return max(0, Int64(deleted.count) - inheritedAndGone)
    }

    /// Notes the offsets without a record between the last read record and the end of the partition. The frontier
    /// passes them once all records before them are delivered. Some of those records may not have begun yet.
    mutating func noteGap(_ gap: Range<Int64>) {
        lastGap = gap
        passGap()
    }

    private mutating func passGap() {
        guard let end = endOfGap(before: open.first?.offset), end > frontier ?? -1 else { return }
        removeInherited(before: end)
        (frontier, lastTakenOffset, hasNews) = (end, max(lastTakenOffset, end - 1), true)
    }

    private func endOfGap(before open: Int64?) -> Int64? {
        lastGap.flatMap { $0.lowerBound <= lastTakenOffset + 1 && $0.upperBound <= open ?? .max ? $0.upperBound : nil }
    }

    // MARK: - Marks

    /// Records that a record's outcome exists. A second call changes nothing.
    mutating func markReady(_ slot: Slot) {
        if let index = index(of: slot) { open[index].isReady = true }
    }

    /// True if the oldest open record is ready.
    var isOldestReady: Bool { open.first?.isReady ?? false }

    /// Returns at most `limit` ready records, oldest first.
    /// - Parameter inOneRun: returns only those before the first record without an outcome.
    func readySlots(atMost limit: Int, inOneRun: Bool = false) -> [Slot] {
        let candidates = inOneRun ? open.prefix { $0.isReady } : open[...]
        return Array(candidates.lazy.filter(\.isReady).map(\.slot).prefix(limit))
    }

    /// Records that the brokers have acknowledged a record's outcome. A second call changes nothing.
    mutating func markDelivered(_ slot: Slot) {
        guard let index = index(of: slot) else { return }
        defer { passGap() }

        let record = open.remove(at: index)
        let end = record.doneBehind?.end ?? record.offset + 1
        hasNews = true

        guard index == 0 else { return open[index - 1].extend(by: DoneRun(first: record.offset, end: end)) }
        frontier = end
    }

    private func index(of slot: Slot) -> Int? {
        // Fast path: most records are delivered in the order in which they were taken.
        if open.first?.slot == slot { return 0 }

        var (low, high) = (0, open.count)
        while low < high {
            let middle = (low + high) / 2
            if open[middle].slot < slot { low = middle + 1 } else { high = middle }
        }
        return low < open.count && open[low].slot == slot ? low : nil
    }

    // MARK: - Progress

    /// Returns whether a record was delivered or skipped since the last call.
    mutating func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }

    /// Makes the next call of `takeNews` return `true`.
    mutating func renewNews() { hasNews = true }

    /// Returns the progress of the partition once some more records are delivered.
    /// - Parameters:
    ///   - records: the ready records to count as delivered, in addition to those that are.
    ///   - base: the offset to return if nothing is delivered. `nil`: nothing is returned then.
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
            if record.isReady, records.contains(record.slot) {
                add(DoneRun(first: record.offset, end: record.offset + 1))
            } else {
                firstOpen = firstOpen ?? record.offset
                if let ended = run { done.append(ended) }
                run = nil
            }
            if let delivered = record.doneBehind { add(delivered) }
        }
        if let run { done.append(run) }
        if inherited.isEmpty, let end = endOfGap(before: firstOpen) { next = max(next ?? end, end) }
        for run in inherited.runs { done.append(run) }

        let start = base.map { firstOpen ?? $0 } ?? (done.isEmpty ? nil : firstOpen)
        return (next ?? start).map { Progress(next: $0, done: done) }
    }
}
