/// The states of one session as a sequence: the present one immediately, then each one that differs visibly.
///
/// A slow subscriber skips states and gets the newest. It delays no other subscriber and needs no more memory. Each
/// iterator is a subscriber, and a session is kept while it has one. A subscription ends when the iterator is dropped or
/// its task is cancelled, which also ends the sequence.
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

        /// Waits for a state that differs visibly from the last one. The first call returns the present state.
        /// - Returns: `nil` if the task is cancelled.
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
    /// Returns the states of a session from now on: the present one immediately, then each different one. See ``StateUpdates``.
    public func updates(of sessionID: String) -> StateUpdates { StateUpdates(store: self, sessionID: sessionID) }
}
