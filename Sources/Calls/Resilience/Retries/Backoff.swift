/// The wait between attempts: exponential with full jitter (between nothing and a ceiling that doubles). The jitter keeps
/// workers that failed together from retrying together (Brooker, "Exponential Backoff And Jitter", AWS 2015).
public struct Backoff: Sendable, Hashable {
    /// The ceiling of the first wait, which doubles with each attempt. AWS's and Google's clients begin between 50 ms and 1
    /// s; a deadline of 5 s leaves room for several waits of this size.
    public var base: Duration = .milliseconds(100)
    /// The ceiling of any wait: two of them fit into the default deadline of 5 s.
    public var cap: Duration = .seconds(2)

    public init() {}

    /// Returns the longest possible `delay` without a floor.
    /// - Parameter attempt: the number of attempts made, 1 or more.
    public func ceiling(after attempt: Int) -> Duration { min(cap, base * (1 << min(max(attempt, 1) - 1, 20))) }

    /// - Parameter floor: the provider's `Retry-After`, which is the minimum of the wait. Workers with the same floor retry
    ///   spread over `base`, not all at once.
    /// - Parameter longest: the available time; the jitter stays below it, but a longer floor is kept.
    public func delay(
        after attempt: Int, floor: Duration? = nil, longest: Duration = .seconds(3600),
        using random: inout some RandomNumberGenerator
    ) -> Duration {
        let floor = max(floor ?? .zero, .zero)
        let spread = floor > .zero ? base : ceiling(after: attempt)
        return floor + max(.zero, min(spread, longest - floor)) * Double.random(in: 0..<1, using: &random)
    }
}
