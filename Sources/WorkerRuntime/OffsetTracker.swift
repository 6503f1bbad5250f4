internal import DequeModule

/// Which offsets of one partition are done, for one assignment of it. Records finish in any order; only the unbroken
/// run of finished ones moves the frontier, and the frontier is what gets committed.
///
/// The order is that of delivery, not of numbers: compaction and transaction markers leave gaps, and a log that was
/// truncated or made anew starts over at lower offsets.
struct OffsetTracker {
    /// Names one delivered record of this tracker.
    struct Slot: Hashable, Comparable, Sendable {
        fileprivate let serial: UInt64

        /// In the order of delivery.
        static func < (a: Slot, b: Slot) -> Bool { a.serial < b.serial }
    }

    private struct Entry {
        let offset: Int64
        var isFinished = false
    }

    /// From the oldest unfinished record on.
    private var entries: Deque<Entry> = []
    private var firstSerial: UInt64 = 0
    private var lastDelivered: Int64 = -1
    /// The offset to continue from: one past the unbroken run of finished records; `nil` before the first is finished.
    private(set) var frontier: Int64?

    /// Records delivered and not yet behind the frontier, finished ones among them.
    var span: Int { entries.count }

    /// The last record delivered that is finished and does not count yet; `nil`: all that is finished is behind the frontier.
    var lastFinished: Slot? {
        entries.lastIndex { $0.isFinished }.map { Slot(serial: firstSerial + UInt64($0)) }
    }

    /// Records delivered and not finished.
    private(set) var unfinishedCount = 0

    /// Notes a delivered record, before any work on it starts.
    /// - Returns: `nil` when the same record is already in here: it was delivered again and must not run twice.
    mutating func begin(_ offset: Int64) -> Slot? {
        if offset <= lastDelivered, entries.contains(where: { $0.offset == offset }) { return nil }
        lastDelivered = offset
        entries.append(Entry(offset: offset))
        unfinishedCount += 1
        return Slot(serial: firstSerial + UInt64(entries.count - 1))
    }

    /// Notes that a record's outcome is delivered. Safe to call twice.
    /// - Returns: whether the frontier moved.
    @discardableResult
    mutating func finish(_ slot: Slot) -> Bool {
        guard slot.serial >= firstSerial else { return false }
        let index = Int(slot.serial - firstSerial)
        guard index < entries.count, !entries[index].isFinished else { return false }
        entries[index].isFinished = true
        unfinishedCount -= 1
        guard index == 0 else { return false }
        while let first = entries.first, first.isFinished {
            frontier = first.offset + 1
            entries.removeFirst()
            firstSerial += 1
        }
        return true
    }
}
