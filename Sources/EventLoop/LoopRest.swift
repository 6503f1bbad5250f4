/// What share of its time a loop had nothing to do, one period after another.
public struct LoopRest: Sendable {
    private let period: Duration
    private var start: ContinuousClock.Instant
    private var asleepBefore: Duration

    /// - Parameter period: long against a turn of the loop.
    /// - Parameter asleep: the loop's, at present.
    public init(every period: Duration, asleep: Duration, at now: ContinuousClock.Instant) {
        self.period = period
        start = now
        asleepBefore = asleep
    }

    /// - Parameter asleep: the loop's, at present.
    /// - Returns: of the time since the last answer, 0...1 where `asleep` was the loop's then; `nil` until a period has passed.
    public mutating func share(asleep: Duration, at now: ContinuousClock.Instant) -> Double? {
        let length = start.duration(to: now)
        guard length >= period else { return nil }
        defer { (start, asleepBefore) = (now, asleep) }
        return (asleep - asleepBefore) / length
    }
}
