internal import Basics

/// Random numbers that follow from a seed: the same on every machine, in every run.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var numbers: SpanIDs

    /// Makes the sequence that follows from `seed`.
    public init(seed: UInt64) { numbers = SpanIDs(seed: seed) }

    public mutating func next() -> UInt64 { numbers.next() }

    /// Returns an independent generator, whose use does not change the numbers of this one.
    public mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }

    /// Returns a random duration in the range, to the nanosecond.
    public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        let (least, most) = (range.lowerBound.wholeNanoseconds, range.upperBound.wholeNanoseconds)
        return .nanoseconds(Int64.random(in: least...most, using: &self))
    }
}
