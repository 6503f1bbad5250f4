internal import Basics
import Console

/// The sums of the newest readings of a group, from which its rates follow.
struct BacklogHistory {
    private struct Reading {
        let instant: Instant
        let partitions: Int
        let end: Int64
        let waiting: Int64
    }

    private let window: Duration
    /// In the order in which they were taken, the oldest at most one window before the newest.
    private var readings: [Reading] = []

    /// - Parameter window: the time that rates are computed over, once readings reach back so far.
    init(over window: Duration) { self.window = window }

    /// Takes a reading in, and adds to it what follows from those before it.
    mutating func complete(_ backlog: inout GroupBacklog, readAt instant: Instant) {
        guard let waiting = backlog.waiting else { return readings.removeAll() }
        let newest = Reading(
            instant: instant, partitions: backlog.partitions.count, end: backlog.end, waiting: waiting)

        // Offsets that go back, or a topic that was made anew, are no work that was done.
        if let last = readings.last, Self.finished(from: last, to: newest) == nil { readings.removeAll() }
        let last = readings.last
        readings.removeAll { $0.instant.duration(to: instant) > window }
        // Readings that come more seldom than the window are compared with the one before.
        if readings.isEmpty, let last { readings.append(last) }
        readings.append(newest)
        // bounded: one reading each second or less often, over the window

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

    /// Returns how many requests were finished between two readings: those that arrived, less those that wait more.
    /// - Returns: `nil` when the readings are not of one history.
    private static func finished(from first: Reading, to last: Reading) -> Int64? {
        let arrived = last.end.saturatingSubtracting(first.end)
        let finished = arrived.saturatingSubtracting(last.waiting.saturatingSubtracting(first.waiting))
        return first.partitions == last.partitions && arrived >= 0 && finished >= 0 ? finished : nil
    }
}
