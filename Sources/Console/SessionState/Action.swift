public import EventContract
public import LocationSearch

/// An event in a session: the only way to change its state.
public enum Action: Sendable, Hashable {
    /// A request was sent at this time, which orders the session's requests. Its outcome may be dispatched first.
    case requested(SearchRequest, at: WallTime)
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
