/// How much a ``Store`` keeps, and for how long.
public struct StoreConfiguration: Sendable, Hashable {
    /// How long a session is kept that nothing happens to and nobody subscribes to.
    public var idleTime: Duration
    /// The most sessions. Above it, the one that is idle longest goes. Sessions with subscribers stay.
    public var maxSessions: Int
    /// The most places of all sessions together, which is what the memory goes to. Above it, sessions go likewise.
    public var maxPlaces: Int
    /// How much is kept of each session.
    public var limits: SessionLimits

    /// A configuration; the defaults need some 600 MB at most.
    public init(
        idleTime: Duration = .seconds(1800), maxSessions: Int = 10_000, maxPlaces: Int = 1_000_000,
        limits: SessionLimits = SessionLimits()
    ) {
        self.idleTime = idleTime
        self.maxSessions = maxSessions
        self.maxPlaces = maxPlaces
        self.limits = limits
    }
}
