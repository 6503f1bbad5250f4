/// The limits of a ``Store``.
public struct StoreConfiguration: Sendable, Hashable {
    /// How long a session without actions and subscribers is kept.
    public var idleTime: Duration
    /// The maximum number of sessions. Above it, the session that has been idle longest is dropped. Sessions with subscribers stay.
    public var maxSessions: Int
    /// The maximum number of places in the results of all sessions, which use most of the memory. A place takes some 400
    /// bytes, and twice that in a list that details, a picture or a further page changed. Above it, sessions are dropped
    /// likewise.
    public var maxPlaces: Int
    /// The maximum size of the texts and places of all sessions, in bytes. It also bounds sessions with few places and long
    /// texts. The visible states may take as much again. Above it, sessions are dropped likewise.
    public var maxBytes: Int
    /// The limits of each session.
    public var limits: SessionLimits

    /// Makes a configuration. The default is enough for 10,000 sessions of 100 places each, in 500 MB, or 1 GB with details.
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
