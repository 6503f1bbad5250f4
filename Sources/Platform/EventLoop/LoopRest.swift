public import Basics

/// Measures the share of its time in which a loop had nothing to do, one period after another.
public struct LoopRest: Sendable {
    private let period: Duration
    private var start: Instant
    private var asleepBefore: Duration

    /// Begins the first period at `now`.
    /// - Parameters:
    ///   - period: the shortest time between two answers of `share`. It should be long beside a turn of the loop.
    ///   - asleep: the loop's `asleep` at present.
    public init(every period: Duration, asleep: Duration, at now: Instant) {
        self.period = period
        start = now
        asleepBefore = asleep
    }

    /// Returns the share of the time since the last answer in which the loop was asleep, 0...1; `nil` until a period has
    /// passed.
    /// - Parameter asleep: the loop's `asleep` at present.
    public mutating func share(asleep: Duration, at now: Instant) -> Double? {
        let length = start.duration(to: now)
        guard length >= period else { return nil }

        defer { (start, asleepBefore) = (now, asleep) }
        return (asleep - asleepBefore) / length
    }
}
