public import Basics

/// Measures the fraction of time in which a loop is idle, period by period.
public struct LoopRest: Sendable {
    private let period: Duration
    private var start: Instant
    private var asleepBefore: Duration

    /// Begins the first period at `now`.
    /// - Parameters:
    ///   - period: The shortest time between two results of `share`, which should be much longer than one iteration.
    ///   - asleep: The current value of the loop's `asleep`.
    public init(every period: Duration, asleep: Duration, at now: Instant) {
        self.period = period
        start = now
        asleepBefore = asleep
    }

    /// Returns the fraction of time since the last result in which the loop was idle, 0...1; `nil` until a period has
    /// passed.
    /// - Parameter asleep: The current value of the loop's `asleep`.
    public mutating func share(asleep: Duration, at now: Instant) -> Double? {
        let length = start.duration(to: now)
        guard length >= period else { return nil }

        defer { (start, asleepBefore) = (now, asleep) }
        return (asleep - asleepBefore) / length
    }
}
