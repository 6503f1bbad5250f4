internal import Basics

/// The sessions of a store, within its limits. It has one owner at a time.
struct SessionTable {
    typealias Signal = AsyncStream<Void>.Continuation

    private struct Session {
        var state: SessionState
        var lastUse: Instant
        var subscribers: [UInt64: Signal] = [:]
    }

    private let configuration: StoreConfiguration
    private var sessions: [String: Session] = [:]
    private var idle = IdleQueue()
    private var placeCount = 0
    private(set) var byteCount = 0
    private(set) var subscriberCount = 0
    private var nextNumber: UInt64 = 0

    init(_ configuration: StoreConfiguration) { self.configuration = configuration }

    var count: Int { sessions.count }
    /// The number of entries in the order of use, for tests.
    var idleEntryCount: Int { idle.count }

    // MARK: States

    /// Adds an action to a session.
    /// - Returns: the subscribers to notify; none if the visible state did not change.
    mutating func dispatch(_ action: Action, session id: String, at now: Instant) -> [Signal] {
        removeExpired(at: now)
        let (isChanged, places, bytes) = use(id, at: now) { session in
            let (revision, places, bytes) = (session.state.revision, session.state.placeCount, session.state.byteCount)
            Reducer.reduce(&session.state, action)
            let state = session.state
            return (state.revision != revision, state.placeCount - places, state.byteCount - bytes)
        }
        placeCount += places
        byteCount += bytes

        removeExpired(at: now)
        return isChanged ? sessions[id].map { Array($0.subscribers.values) } ?? [] : []
    }

    /// Returns the state of a session; `nil` if there is none or it has expired.
    func state(of id: String, at now: Instant) -> SessionState? {
        guard let session = sessions[id] else { return nil }
        return session.subscribers.isEmpty && isOver(session.lastUse, at: now) ? nil : session.state
    }

    // MARK: Subscribers

    /// - Returns: the number with which to unsubscribe.
    mutating func subscribe(_ signal: Signal, session id: String, at now: Instant) -> UInt64 {
        removeExpired(at: now)
        nextNumber += 1
        subscriberCount += 1
        use(id, at: now) { [nextNumber] session in session.subscribers[nextNumber] = signal }
        return nextNumber
    }

    mutating func unsubscribe(_ number: UInt64, session id: String, at now: Instant) {
        guard sessions[id]?.subscribers[number] != nil else { return }
        subscriberCount -= 1
        use(id, at: now) { session in session.subscribers[number] = nil }

        // A session that was only observed has no data.
        if let session = sessions[id], session.subscribers.isEmpty, session.state.isUntouched { remove(id) }
        removeExpired(at: now)
    }

    // MARK: Expiry

    /// Drops expired sessions, and while there are too many, those that have been idle longest.
    mutating func removeExpired(at now: Instant) {
        while let oldest = idle.first {
            guard let session = sessions[oldest.id], session.lastUse == oldest.since, session.subscribers.isEmpty else {
                idle.removeFirst()
                continue
            }

            let isTooMuch =
                sessions.count > configuration.maxSessions || placeCount > configuration.maxPlaces
                || byteCount > configuration.maxBytes
            guard isTooMuch || isOver(session.lastUse, at: now) else { return }
            idle.removeFirst()
            remove(oldest.id)
        }
    }

    private func isOver(_ lastUse: Instant, at now: Instant) -> Bool {
        lastUse.duration(to: now) >= configuration.idleTime
    }

    private mutating func remove(_ id: String) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        placeCount -= session.state.placeCount
        byteCount -= session.state.byteCount + Self.bytes(ofName: id)
    }

    /// The bytes of a session's name, which is stored in the table and in the idle queue.
    private static func bytes(ofName id: String) -> Int { 2 * id.utf8.count }

    /// Changes a session, which is created if needed and becomes the most recently used one.
    private mutating func use<Result>(
        _ id: String, at now: Instant, change: (inout Session) -> Result
    ) -> Result {
        let new = Session(state: SessionState(limits: configuration.limits), lastUse: now)
        if sessions[id] == nil { byteCount += Self.bytes(ofName: id) }
        sessions[id, default: new].lastUse = now
        idle.append(id, at: now)
        if idle.count > 2 * sessions.count + 64 {
            idle.keep { entry in sessions[entry.id]?.lastUse == entry.since }
        }
        return change(&sessions[id, default: new])
    }
}

extension SessionState {
    /// The number of places in the kept results.
    var placeCount: Int { exchanges.placeCount }

    /// The bytes of the kept texts and places.
    var byteCount: Int { exchanges.byteCount }

    /// True if the state contains no actions.
    var isUntouched: Bool { exchanges.all.isEmpty }
}
