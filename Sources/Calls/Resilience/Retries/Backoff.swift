/// Decides how long to wait between attempts: exponential with full jitter (anything from nothing to a ceiling that
/// doubles), so that workers that failed together do not return together (Brooker, "Exponential Backoff And Jitter", AWS 2015).
public struct Backoff: Sendable, Hashable {
    /// The ceiling of the first wait, which doubles with each attempt. The clients of AWS and Google begin between 50 ms and
    /// 1 s; a deadline of 5 s leaves room for several waits of this size.
    public var base: Duration = .milliseconds(100)
    /// The ceiling of any wait: two of them still fit into the default deadline of 5 s.
    public var cap: Duration = .seconds(2)

    public init() {}

    /// The longest that `delay` can be, apart from a floor.
    /// - Parameter attempt: the number of attempts made, 1 or more.
    public func ceiling(after attempt: Int) -> Duration { min(cap, base * (1 << min(max(attempt, 1) - 1, 20))) }

    /// - Parameter floor: the provider's `Retry-After`, which the wait never undercuts. Workers that were told the same come
    ///   back spread over `base`, not at one instant.
    /// - Parameter longest: what there is time for; the jitter is drawn below it, a floor above it stands.
    public func delay(
        after attempt: Int, floor: Duration? = nil, longest: Duration = .seconds(3600),
        using random: inout some RandomNumberGenerator
    ) -> Duration {
        let floor = max(floor ?? .zero, .zero)
        let spread = floor > .zero ? base : ceiling(after: attempt)
        return floor + max(.zero, min(spread, longest - floor)) * Double.random(in: 0..<1, using: &random)
    }
}
