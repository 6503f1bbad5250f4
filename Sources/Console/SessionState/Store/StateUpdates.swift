/// The states of one session, as a sequence: the present one at once, then each that shows something else.
///
/// A slow subscriber skips states and gets the newest, holds up nobody, and costs no more memory. Each iterator is a
/// subscriber; the session is kept as long as it has one. A subscriber is forgotten when its task is cancelled, which ends
/// the sequence, or when the iterator is dropped.
public struct StateUpdates: AsyncSequence, Sendable {
    let store: Store
    let sessionID: String

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(store: store, sessionID: sessionID, signals: store.signals(of: sessionID).makeAsyncIterator())
    }

    /// One subscriber.
    public struct Iterator: AsyncIteratorProtocol {
        let store: Store
        let sessionID: String
        var signals: AsyncStream<Void>.Iterator
        private var revision: Int?

        init(store: Store, sessionID: String, signals: AsyncStream<Void>.Iterator) {
            self.store = store
            self.sessionID = sessionID
            self.signals = signals
        }

        /// Waits for a state that shows something else than the last one; the first time it returns the present state.
        /// - Returns: `nil` when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionState? {
            while !Task.isCancelled {
                let state = store.state(of: sessionID)
                if state.revision != revision {
                    revision = state.revision
                    return state
                }
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
            return nil
        }
    }
}

extension Store {
    /// Returns the states of a session from now on: the present one at once, then each other one that it comes to. See
    /// ``StateUpdates``.
    public func updates(of sessionID: String) -> StateUpdates { StateUpdates(store: self, sessionID: sessionID) }
}
