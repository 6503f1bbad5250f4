internal import Basics

/// A log throttle: admits one line of each kind per period, and counts the suppressed ones.
struct RepeatLimiter<Kind: Hashable & Sendable>: Sendable {
    private struct Entry {
        var last: Instant
        var leftOut = 0
    }
    private let period: Duration
    private let maxKinds: Int
    private var entries: [Kind: Entry] = [:]

    /// - Parameters:
    ///   - period: How long lines of a kind are suppressed after one was written.
    ///   - maxKinds: The maximum number of tracked kinds. At that limit, kinds without a line in the last period are
    ///     dropped.
    init(period: Duration = .seconds(30), maxKinds: Int = 100) {
        self.period = period
        self.maxKinds = maxKinds
    }

    /// Decides whether one line is written.
    /// - Returns: The number of suppressed lines of its kind since the last written one; `nil` to suppress this one
    ///   too.
    mutating func admit(_ kind: Kind, at now: Instant) -> Int? {
        if var entry = entries[kind], now - entry.last < period {
            entry.leftOut += 1
            entries[kind] = entry
            return nil
        }

        let leftOut = entries[kind]?.leftOut ?? 0
        if entries.count >= maxKinds { entries = entries.filter { now - $0.value.last < period } }
        if entries.count < maxKinds { entries[kind] = Entry(last: now) }
        return leftOut
    }
}
