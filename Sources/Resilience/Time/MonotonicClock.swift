public import Basics

/// A clock whose instants are `Instant`, so that deadlines are one type everywhere and tests can drive time.
public protocol MonotonicClock: Clock where Instant == Basics.Instant, Duration == Swift.Duration {}

extension SystemClock: MonotonicClock {}
