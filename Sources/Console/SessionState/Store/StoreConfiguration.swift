/// The limits of a ``Store``.
public struct StoreConfiguration: Sendable, Hashable {
    /// How long a session without actions and subscribers is kept.
    public var idleTime: Duration
    /// The maximum number of sessions. Above it, the session that has been idle longest is dropped. Sessions with subscribers stay.
    public var maxSessions: Int
    /// The maximum size of the texts and places of all sessions, in bytes. A place takes some 400 bytes. The visible states
    /// may take as much again. Above it, sessions are dropped likewise.
    public var maxBytes: Int
    /// The limits of each session.
    public var limits: SessionLimits

    /// Makes a configuration. The default is enough for 10,000 sessions of 100 places each, in 500 MB, or 1 GB with details.
    public init(
        idleTime: Duration = .seconds(1800), maxSessions: Int = 10_000, limits: SessionLimits = SessionLimits(),
        maxBytes: Int = 512 << 20
    ) {
        (self.idleTime, self.maxSessions, self.limits, self.maxBytes) = (idleTime, maxSessions, limits, maxBytes)
    }
}

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
