/// The limits on the data kept for one session.
///
/// Within these limits, the order in which actions arrive does not affect the session's state. Above them, the oldest data
/// is dropped first.
public struct SessionLimits: Sendable, Hashable {
    /// The maximum number of requests kept per operation: searches with their pages, details and photos. At least 1. A list
    /// with more pages loses its first ones.
    public var requests: Int
    /// The maximum number of outcomes kept per operation whose requests were not seen, or not yet. At least 0.
    public var unrequestedOutcomes: Int
    /// The maximum size of the texts and places of all requests and outcomes, in bytes. At least 1. The newest request is
    /// always kept, whatever its size.
    public var bytes: Int

    /// Makes limits; values below the minimum are raised to it.
    public init(requests: Int = 32, unrequestedOutcomes: Int = 4, bytes: Int = 1 << 20) {
        self.bytes = max(bytes, 1)
        self.requests = max(requests, 1)
        self.unrequestedOutcomes = max(unrequestedOutcomes, 0)
    }
}
