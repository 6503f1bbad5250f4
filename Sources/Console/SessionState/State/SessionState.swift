/// The view of one session: what is searched for, what is under way, the places found, the one selected, and what went
/// wrong.
///
/// A state follows from the set of the session's actions, whatever their order and however often each arrived
/// (``SessionLimits`` says how many). ``Reducer`` adds actions to it, and nothing else changes it.
///
/// A request's place in the session is its time, then its id. Until the request of an outcome is seen, the time at which a
/// worker took it stands in for that.
///
/// Two states are equal when they show the same; what is kept behind that, and the revision, do not count.
public struct SessionState: Sendable {
    /// How much is kept of the session.
    public let limits: SessionLimits
    /// Rises by one whenever the state shows something else. It depends on the order of actions, and begins at 0 again for a
    /// session that was forgotten.
    public internal(set) var revision = 0

    var parts = SessionParts()
    var exchanges = Exchanges()

    /// The state of a session to which nothing has happened.
    public init(limits: SessionLimits = SessionLimits()) {
        self.limits = limits
    }

    /// The newest search, leaving aside requests for further pages; `nil` when the session has none.
    public var search: Search? { parts.search }
    /// The requests without an outcome, oldest first. A request that is older than the newest completed search is not waited
    /// for any more, and is not among them.
    public var inFlight: [PendingRequest] { parts.inFlight }
    /// The places of the newest search that completed; `nil` when none has.
    public var list: PlaceList? { parts.list }
    /// The place that details or a picture were asked of last; `nil` when there was a newer search since.
    public var selected: Selection? { parts.selected }
    /// The failure to tell the person about: the newest among those of the search, its newest page, and the details and
    /// picture of the selected place. A request that was repeated with success has none, and being superseded is none.
    public var error: Failure? { parts.error }
}

extension SessionState: Hashable {
    public static func == (left: SessionState, right: SessionState) -> Bool { left.parts == right.parts }

    public func hash(into hasher: inout Hasher) { hasher.combine(parts) }
}

/// All that a state shows. The cheapest to compare come first.
struct SessionParts: Sendable, Hashable {
    var search: SessionState.Search?
    var inFlight: [SessionState.PendingRequest] = []
    var error: SessionState.Failure?
    var selected: SessionState.Selection?
    var list: SessionState.PlaceList?
}
