public import EventContract
public import LocationSearch

/// An event in a session: the only way to change its state.
public enum Action: Sendable, Hashable {
    /// A request was sent at this time, which orders the session's requests. Its outcome may be dispatched first.
    case requested(SearchRequest, at: EventTime)
    /// An outcome event was read.
    case outcome(OutcomeEvent)

    /// The session that the action belongs to; `nil` if the request names none.
    public var sessionID: String? {
        switch self {
        case .requested(let request, at: _): request.sessionID
        case .outcome(let event): event.sessionID
        }
    }

    /// The id of the request that was sent or has ended.
    public var requestID: String {
        switch self {
        case .requested(let request, at: _): request.requestID
        case .outcome(let event): event.requestID
        }
    }
}

/// Adds actions to states. Pure: it does not wait, reads no clock, and uses only its arguments.
public enum Reducer {
    /// Adds an action to a session's state.
    /// - Parameters:
    ///   - state: the state to change. Its revision increases if the visible state changes.
    ///   - action: any action of that session, in any order and any number of times. Its session id is not checked.
    public static func reduce(_ state: inout SessionState, _ action: Action) {
        guard state.exchanges.add(action, limits: state.limits) else { return }

        let parts = Derivation(of: state.exchanges).parts
        guard parts != state.parts else { return }
        state.parts = parts
        state.revision += 1
    }
}
