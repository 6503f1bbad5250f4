internal import Basics

/// Random numbers that follow from a seed: the same on every machine, in every run.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var numbers: SpanIDs

    /// Makes the sequence that follows from `seed`.
    public init(seed: UInt64) { numbers = SpanIDs(seed: seed) }

    public mutating func next() -> UInt64 { numbers.next() }

    /// Returns a generator that goes its own way from here, so that how much it is used changes nothing for this one.
    public mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }

    /// Returns a duration of the range, to the nanosecond.
    public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        let (least, most) = (range.lowerBound.wholeNanoseconds, range.upperBound.wholeNanoseconds)
        return .nanoseconds(Int64.random(in: least...most, using: &self))
    }
}
