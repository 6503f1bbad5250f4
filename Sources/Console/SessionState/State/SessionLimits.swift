/// How much is kept of one session.
///
/// As long as a session keeps to these limits, the order in which its actions arrive makes no difference to its state.
/// Beyond them, what is oldest is forgotten first.
public struct SessionLimits: Sendable, Hashable {
    /// The most requests that are kept of each operation: so many searches with their pages, details and photos. At least 1.
    /// A list of more pages than that loses its first ones.
    public var requests: Int
    /// The most outcomes that are kept of each operation whose requests were not seen, or not yet. At least 0.
    public var unrequestedOutcomes: Int
    /// The most bytes that the texts and places of all requests and outcomes may take up. At least 1. The newest request is
    /// kept in any case, so a session takes up as much as that one has.
    public var bytes: Int

    /// Limits; less than the least is taken as the least.
    public init(requests: Int = 32, unrequestedOutcomes: Int = 4, bytes: Int = 1 << 20) {
        self.bytes = max(bytes, 1)
        self.requests = max(requests, 1)
        self.unrequestedOutcomes = max(unrequestedOutcomes, 0)
    }
}
