/// A clock whose instants are `ContinuousClock`'s, so that deadlines are one type everywhere and tests can drive time.
public protocol MonotonicClock: Clock where Instant == ContinuousClock.Instant, Duration == Swift.Duration {}

extension ContinuousClock: MonotonicClock {}
