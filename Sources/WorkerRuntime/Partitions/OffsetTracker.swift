internal import Basics
internal import DequeModule

/// Tracks which offsets of one partition are done, for one assignment of it.
///
/// Records finish in any order. Only the unbroken run of delivered ones moves the frontier, and the frontier is what gets
/// committed. A record passes two marks. It is *ready* once its outcome exists, a mark that only transactions need: they
/// take outcomes in the order of the records. It is *delivered* once the brokers have confirmed its outcome.
///
/// The order is the one in which the consumer handed the records over, not that of their offsets: compaction and
/// transaction markers leave gaps, and a log that was truncated or made anew starts over at lower offsets. So a record
/// that is handed over again after the frontier has passed it counts like a new one. The frontier then moves back and
/// forward again, which can repeat work after a crash but never skips any.
struct OffsetTracker {
    /// Names one record of this tracker. Names compare in the order in which records were taken.
    struct Slot: Hashable, Comparable, Sendable {
        fileprivate let serial: UInt64

        static func < (a: Slot, b: Slot) -> Bool { a.serial < b.serial }
    }

    private enum Progress {
        case taken
        case ready
        case delivered
    }

    private struct Entry {
        let offset: Int64
        var progress = Progress.taken
    }

    /// The records from the oldest unfinished one on.
    private var entries: Deque<Entry> = []
    private var firstSerial: UInt64 = 0
    private var lastTakenOffset: Int64 = -1

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
        entries.lastIndex { $0.progress == .delivered }.map(slot(at:))
    }

    /// Notes a record before any work on it starts.
    /// - Returns: `nil` when the same record is under way already: it was handed over again and must not run twice.
    mutating func begin(_ offset: Int64) -> Slot? {
        if offset <= lastTakenOffset, entries.contains(where: { $0.offset == offset }) { return nil }

        lastTakenOffset = offset
        entries.append(Entry(offset: offset))
        undeliveredCount += 1
        return slot(at: entries.count - 1)
    }

    /// Notes that a record's outcome exists. A second call changes nothing.
    /// - Returns: `true` when the oldest record is ready, so that something may go into a transaction.
    mutating func markReady(_ slot: Slot) -> Bool {
        if let index = index(of: slot), entries[index].progress == .taken { entries[index].progress = .ready }
        return entries.first?.progress == .ready
    }

    /// Returns the unbroken run of ready records from the oldest on, at most `limit` of them.
    func readyRun(atMost limit: Int) -> [Slot] {
        if isPutBack(.transactionPassesGaps) {
            return entries.indices.filter { entries[$0].progress == .ready }.map(slot(at:))
        }
        return entries.prefix(limit).prefix { $0.progress == .ready }.indices.map(slot(at:))
    }

    /// Notes that the brokers have confirmed a record's outcome. A second call changes nothing.
    mutating func markDelivered(_ slot: Slot) {
        guard let index = index(of: slot), entries[index].progress != .delivered else { return }

        entries[index].progress = .delivered
        undeliveredCount -= 1

        if isPutBack(.offsetPassesGaps) { frontier = max(frontier ?? 0, entries[index].offset + 1) }
        guard index == 0 else { return }
        while let first = entries.first, first.progress == .delivered {
            if isPutBack(.gapStopsCommits), let frontier, first.offset != frontier { return }
            frontier = first.offset + 1
            if isPutBack(.offsetOneTooFar) { frontier = first.offset + 2 }
            entries.removeFirst()
            firstSerial += 1
        }
    }

    private func slot(at index: Int) -> Slot { Slot(serial: firstSerial + UInt64(index)) }

    private func index(of slot: Slot) -> Int? {
        guard slot.serial >= firstSerial else { return nil }
        let index = Int(slot.serial - firstSerial)
        return index < entries.count ? index : nil
    }
}
