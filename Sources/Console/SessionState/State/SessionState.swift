public import LocationSearch

/// The state of one session: the search, the requests in flight, the places found, the selected place, and the failure.
///
/// A state depends only on the set of the session's actions. Their order and repetitions do not matter, within
/// ``SessionLimits``. Only ``Reducer`` changes it, by adding actions.
///
/// Requests are ordered by time, then by id. If only the outcome was seen, its `receivedAt` is the request's time.
///
/// Two states are equal if they show the same. Hidden data and the revision do not count.
public struct SessionState: Sendable {
    /// The limits on the data kept for the session.
    public let limits: SessionLimits
    /// Increases by one whenever the visible state changes. It depends on the order of actions, and restarts at 0 after the
    /// session was dropped.
    public internal(set) var revision = 0

    var parts = SessionParts()
    var exchanges = Exchanges()

    /// Makes the state of a session without actions.
    public init(limits: SessionLimits = SessionLimits()) {
        self.limits = limits
    }

    /// The newest search, without requests for further pages; `nil` if the session has none.
    public var search: Search? { parts.search }
    /// The requests without an outcome, oldest first. Requests older than the newest completed search are left out.
    public var inFlight: [PendingRequest] { parts.inFlight }
    /// The places of the newest completed search; `nil` if there is none.
    public var list: PlaceList? { parts.list }
    /// The place of the last details or photo request; `nil` if there was a newer search since.
    public var selected: Selection? { parts.selected }
    /// The failure to show: the newest one of the search, its newest page, and the details and picture of the selected
    /// place. A request that was repeated successfully has none, and being superseded is not a failure.
    public var error: Failure? { parts.error }
}

extension SessionState: Equatable {
    public static func == (left: SessionState, right: SessionState) -> Bool { left.parts == right.parts }
}

/// The visible state. The members that are cheapest to compare come first.
struct SessionParts: Sendable, Hashable {
    var search: SessionState.Search?
    var inFlight: [SessionState.PendingRequest] = []
    var error: SessionState.Failure?
    var selected: SessionState.Selection?
    var list: SessionState.PlaceList?
}

extension SessionState {
    /// The place of a details or photo request.
    public struct Selection: Sendable, Hashable {
        /// The provider's id of the place.
        public let id: String
        /// The provider; `nil` if the request left it open and neither its outcome nor the list has it.
        public let provider: ProviderID?
        /// True while a request for details or a picture of the place is in flight.
        public let isLoading: Bool
        /// True if there are details of the place.
        public let hasDetails: Bool
        /// The URL of the place's picture, which may be short-lived.
        public let imageURL: String?
        /// The credits that must be shown with the place, unchanged; they may be HTML. Without repetitions.
        public let attributions: [String]
        /// The place from the list, or from its details if it is not in the list; `nil` until either is known.
        public let place: Place?
    }
}

extension SessionState {
    /// The places that a search found, including further pages.
    public struct PlaceList: Sendable, Hashable {
        /// The id of the first search of the list.
        public let requestID: String
        /// True if there is a newer search, which is in flight or failed.
        public let isSuperseded: Bool
        /// The name of the provider that answered.
        public let provider: String?
        /// The search as the provider ran it.
        public let search: SearchOutcome.Search?
        /// The total number of places that the provider has for the search; `nil` if it reported none.
        public let totalAvailable: Int?
        /// The `pageToken` for the next page; `nil` if there is none.
        public let nextPageToken: String?
        /// The credits that must be shown with the places, unchanged; they may be HTML. Without repetitions.
        public let attributions: [String]
        /// The places in the provider's order, without repetitions, including their details and pictures.
        public let places: Places
    }
}
