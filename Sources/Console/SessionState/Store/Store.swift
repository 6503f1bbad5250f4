public import Basics
import Synchronization

/// Holds the states of all sessions and notifies their subscribers. Safe to use from any thread.
///
/// Its memory is bounded, see ``StoreConfiguration``. Sessions expire when actions are dispatched; for an idle store, call
/// ``removeExpired()``.
public final class Store: Sendable {
    private let configuration: StoreConfiguration
    private let now: @Sendable () -> Instant
    private let sessions: Mutex<SessionTable>

    /// Makes a store without sessions.
    /// - Parameters:
    ///   - configuration: how much is kept, and for how long.
    ///   - now: returns the time, by which sessions expire.
    public init(
        _ configuration: StoreConfiguration = StoreConfiguration(),
        now: @escaping @Sendable () -> Instant = { .now }
    ) {
        self.configuration = configuration
        self.now = now
        sessions = Mutex(SessionTable(configuration))
    }

    /// Adds an action to the state of its session. An action without a session changes nothing.
    public func dispatch(_ action: Action) {
        guard let id = action.sessionID else { return }
        let time = now()
        // Subscribers are notified within the lock, so that no older state overtakes a newer one.
        sessions.withLock { $0.dispatch(action, session: id, at: time) }
    }

    /// Returns the present state of a session. An unknown or expired session has the initial state.
    public func state(of sessionID: String) -> SessionState {
        let time = now()
        return sessions.withLock { $0.state(of: sessionID, at: time) } ?? SessionState(limits: configuration.limits)
    }

    /// Drops the expired sessions.
    public func removeExpired() {
        let time = now()
        sessions.withLock { $0.removeExpired(at: time) }
    }

    /// The number of sessions that are kept.
    public var sessionCount: Int { sessions.withLock { $0.count } }

    /// The number of streams of states in use.
    public var subscriberCount: Int { sessions.withLock { $0.subscriberCount } }

    // MARK: Subscribers

    /// Returns the states of a session from now on: the present one immediately, then each one that differs visibly.
    ///
    /// A slow subscriber skips states and gets the newest. It delays no other subscriber and needs no more memory. A session
    /// is kept while it has a subscriber. A subscription ends when the stream and its iterator are dropped, or when the task
    /// is cancelled, which also ends the stream.
    public func updates(of sessionID: String) -> AsyncStream<SessionState> {
        let (states, subscriber) = AsyncStream.makeStream(of: SessionState.self, bufferingPolicy: .bufferingNewest(1))
        let time = now()
        let number = sessions.withLock { $0.subscribe(subscriber, session: sessionID, at: time) }

        subscriber.onTermination = { [weak self] _ in self?.unsubscribe(number, session: sessionID) }
        return states
    }

    private func unsubscribe(_ number: UInt64, session id: String) {
        let time = now()
        sessions.withLock { $0.unsubscribe(number, session: id, at: time) }
    }
}
