internal import Basics
import Console

/// The totals of recent readings of a group, from which rates are computed.
struct BacklogHistory {
    private struct Reading {
        let instant: Instant
        let partitions: Int
        let end: Int64
        let waiting: Int64
    }

    private let window: Duration
    /// Sorted by time. The oldest is at most one window before the newest.
    private var readings: [Reading] = []

    /// - Parameter window: the period over which rates are computed, once the readings cover it.
    init(over window: Duration) { self.window = window }

    /// Adds a reading, and completes it with the rates that follow from earlier readings.
    mutating func complete(_ backlog: inout GroupBacklog, readAt instant: Instant) {
        guard let waiting = backlog.waiting else { return readings.removeAll() }
        let newest = Reading(
            instant: instant, partitions: backlog.partitions.count, end: backlog.end, waiting: waiting)

        // Offsets that move back, or a topic that was created again, would otherwise be counted as finished work.
        if let last = readings.last, Self.finished(from: last, to: newest) == nil { readings.removeAll() }
        let last = readings.last
        readings.removeAll { $0.instant.duration(to: instant) > window }
        // If readings are less frequent than the window, each is compared with the previous one.
        if readings.isEmpty, let last { readings.append(last) }
        readings.append(newest)
        // bounded: at most one reading a second, over the window

        guard let first = readings.first, let last, let finished = Self.finished(from: first, to: newest) else {
            return
        }
        let seconds = first.instant.duration(to: instant).inSeconds
        guard seconds > 0 else { return }
        backlog.rates = GroupBacklog.Rates(
            window: first.instant.duration(to: instant),
            arrived: Double(newest.end.saturatingSubtracting(first.end)) / seconds,
            finished: Double(finished) / seconds)
        backlog.isProgressing = Self.finished(from: last, to: newest) ?? 0 > 0
    }

    /// Returns the number of requests finished between two readings: the arrived requests, minus the increase of the
    /// backlog.
    /// - Returns: `nil` if the readings cannot be compared.
    private static func finished(from first: Reading, to last: Reading) -> Int64? {
        let arrived = last.end.saturatingSubtracting(first.end)
        let finished = arrived.saturatingSubtracting(last.waiting.saturatingSubtracting(first.waiting))
        return first.partitions == last.partitions && arrived >= 0 && finished >= 0 ? finished : nil
    }
}
