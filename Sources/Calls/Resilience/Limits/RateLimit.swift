/// The rate of calls that all workers together may make with an API key.
public struct RateLimit: Sendable, Hashable {
    /// `providers.<name>.requestsPerSecond`: more than zero, and finite.
    public let perSecond: Double
    /// `providers.<name>.burst`: requests that may be sent at once after a pause, at least 1.
    public let burst: Double

    /// - Parameter burst: `nil`: a tenth of a second's worth. It smooths uneven arrivals, and it is negligible for a quota
    ///   counted per minute, such as Google's.
    public init(perSecond: Double, burst: Double? = nil) {
        precondition(perSecond > 0 && perSecond.isFinite, "a rate limit is a positive number")
        self.perSecond = perSecond
        self.burst = max(1, burst ?? perSecond / 10)
    }

    /// Returns the limit with another rate, and a burst in the same proportion.
    public func scaled(to perSecond: Double) -> RateLimit {
        RateLimit(perSecond: perSecond, burst: burst * (perSecond / self.perSecond))
    }
}
