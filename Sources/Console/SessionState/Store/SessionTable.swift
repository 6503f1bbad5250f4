internal import Basics

/// The sessions of a store, within its limits. It has one owner at a time.
struct SessionTable {
    typealias Subscriber = AsyncStream<SessionState>.Continuation

    private struct Session {
        var state: SessionState
        var lastUse: Instant
        var subscribers: [UInt64: Subscriber] = [:]
    }

    private let configuration: StoreConfiguration
    private var sessions: [String: Session] = [:]
    private(set) var byteCount = 0
    private(set) var subscriberCount = 0
    private var nextNumber: UInt64 = 0
    private var lastSweep: Instant?

    init(_ configuration: StoreConfiguration) { self.configuration = configuration }

    var count: Int { sessions.count }

    // MARK: States

    /// Adds an action to a session, and sends the state to its subscribers if it differs visibly.
    mutating func dispatch(_ action: Action, session id: String, at now: Instant) {
        update(id, at: now) { session in
            let revision = session.state.revision
            Reducer.reduce(&session.state, action)
            guard session.state.revision != revision else { return }
            for subscriber in session.subscribers.values { subscriber.yield(session.state) }
        }
    }

    /// Returns the state of a session; `nil` if there is none or it has expired.
    func state(of id: String, at now: Instant) -> SessionState? {
        sessions[id].flatMap { isExpired($0, at: now) ? nil : $0.state }
    }

    // MARK: Subscribers

    /// Sends a subscriber the present state, and from then on each one that differs visibly.
    /// - Returns: the number with which to unsubscribe.
    mutating func subscribe(_ subscriber: Subscriber, session id: String, at now: Instant) -> UInt64 {
        nextNumber += 1
        subscriberCount += 1
        update(id, at: now) { [nextNumber] session in
            session.subscribers[nextNumber] = subscriber
            subscriber.yield(session.state)
        }
        return nextNumber
    }

    mutating func unsubscribe(_ number: UInt64, session id: String, at now: Instant) {
        guard sessions[id]?.subscribers[number] != nil else { return }
        subscriberCount -= 1
        update(id, at: now) { session in session.subscribers[number] = nil }

        // A session that was only observed has no data.
        if let session = sessions[id], session.subscribers.isEmpty, session.state.isUntouched { remove(id) }
    }

    // MARK: Expiry

    /// Drops expired sessions, and above a limit those that have been idle longest: an eighth at once, so that the next
    /// session does not need this again.
    mutating func removeExpired(at now: Instant) {
        lastSweep = now
        let (mostSessions, mostBytes) = (configuration.maxSessions, configuration.maxBytes)
        let isFull = exceeds(mostSessions, mostBytes)

        let idle = sessions.filter { $0.value.subscribers.isEmpty }.sorted { $0.value.lastUse < $1.value.lastUse }
        for (id, session) in idle {
            let isTooMuch = isFull && exceeds(mostSessions - mostSessions / 8, mostBytes - mostBytes / 8)
            guard isTooMuch || isExpired(session, at: now) else { return }
            remove(id)
        }
    }

    private func exceeds(_ sessionCount: Int, _ bytes: Int) -> Bool { count > sessionCount || byteCount > bytes }

    private func isExpired(_ session: Session, at now: Instant) -> Bool {
        session.subscribers.isEmpty && session.lastUse.duration(to: now) >= configuration.idleTime
    }

    private mutating func remove(_ id: String) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        byteCount -= session.state.byteCount + id.utf8.count
    }

    /// Changes a session, which is created if needed and becomes the most recently used one.
    private mutating func update(_ id: String, at now: Instant, change: (inout Session) -> Void) {
        if sessions[id].map({ isExpired($0, at: now) }) ?? false { remove(id) }
        if sessions[id] == nil { byteCount += id.utf8.count }

        let new = Session(state: SessionState(limits: configuration.limits), lastUse: now)
        let growth = Self.apply(change, to: &sessions[id, default: new], at: now)
        byteCount += growth

        let isDue = lastSweep.map { $0.duration(to: now) >= configuration.idleTime / 8 } ?? true
        if isDue || exceeds(configuration.maxSessions, configuration.maxBytes) { removeExpired(at: now) }
    }

    /// - Returns: by how many bytes the session has grown.
    private static func apply(_ change: (inout Session) -> Void, to session: inout Session, at now: Instant) -> Int {
        let bytes = session.state.byteCount
        session.lastUse = now
        change(&session)
        return session.state.byteCount - bytes
    }
}

extension SessionState {
    /// The bytes of the kept texts and places.
    var byteCount: Int { exchanges.byteCount }

    /// True if the state contains no actions.
    var isUntouched: Bool { exchanges.all.isEmpty }
}
