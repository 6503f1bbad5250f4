/// How much a ``Store`` keeps, and for how long.
public struct StoreConfiguration: Sendable, Hashable {
    /// How long a session is kept that nothing happens to and nobody subscribes to.
    public var idleTime: Duration
    /// The most sessions. Above it, the one that is idle longest goes. Sessions with subscribers stay.
    public var maxSessions: Int
    /// The most places in the results of all sessions together, which is what memory goes to: some 400 bytes for each, and
    /// as much again for those of a list that details, a picture or a further page changed. Above it, sessions go likewise.
    public var maxPlaces: Int
    /// The most bytes of the texts and places of all sessions together, which bounds sessions of few places with long texts
    /// as well. What a session shows may take up as much again. Above it, sessions go likewise.
    public var maxBytes: Int
    /// How much is kept of each session.
    public var limits: SessionLimits

    /// A configuration. 10,000 sessions of 100 places each fit into the default, in 500 MB, or 1 GB with details.
    public init(
        idleTime: Duration = .seconds(1800), maxSessions: Int = 10_000, maxPlaces: Int = 1_500_000,
        limits: SessionLimits = SessionLimits(), maxBytes: Int = 512 << 20
    ) {
        self.idleTime = idleTime
        self.maxSessions = maxSessions
        self.maxPlaces = maxPlaces
        self.limits = limits
        self.maxBytes = maxBytes
    }
}
