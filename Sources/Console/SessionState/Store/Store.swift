public import Basics
import Synchronization

/// Holds the states of all sessions and notifies their subscribers. Safe to use from any thread.
///
/// Its memory is bounded, see ``StoreConfiguration``. Sessions expire when actions are dispatched; for an idle store, call
/// ``removeExpired()``.
public final class Store: Sendable {
    private let configuration: StoreConfiguration
    private let now: @Sendable () -> Instant
    // Never held while foreign code runs: subscribers are woken after it is released, and read the state themselves.
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
        let subscribers = sessions.withLock { $0.dispatch(action, session: id, at: time) }
        for subscriber in subscribers { subscriber.yield() }
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

    /// The number of iterators that wait for states, or will wait.
    public var subscriberCount: Int { sessions.withLock { $0.subscriberCount } }

    // MARK: Subscribers

    /// Returns a stream that holds at most one element, the signal that the session's state may have changed.
    func signals(of sessionID: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let time = now()
        let number = sessions.withLock { $0.subscribe(continuation, session: sessionID, at: time) }

        continuation.onTermination = { [weak self] _ in self?.unsubscribe(number, session: sessionID) }
        return stream
    }

    private func unsubscribe(_ number: UInt64, session id: String) {
        let time = now()
        sessions.withLock { $0.unsubscribe(number, session: id, at: time) }
    }
}
