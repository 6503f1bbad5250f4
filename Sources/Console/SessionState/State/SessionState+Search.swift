public import EventContract
public import LocationSearch

extension SessionState {
    /// A search and how it stands.
    public struct Search: Sendable, Hashable {
        /// How a request stands.
        public enum Status: Sendable, Hashable {
            /// The request has no outcome yet.
            case inFlight
            /// The request has a result, which may be an empty list.
            case completed
            /// The request has an error. ``SessionState/error`` says which, unless the search was superseded.
            case failed
        }

        /// The id of the request.
        public let requestID: String
        /// How the search stands.
        public let status: Status
        /// The time at which the request was sent; `nil` when only its outcome was seen.
        public let sentAt: EventTime?
        /// The request; `nil` when only its outcome was seen.
        public let request: SearchRequest?
        /// The search as the provider ran it; `nil` before it completed.
        public let ran: SearchOutcome.Search?

        /// The category that is searched for; `nil` when it is not known.
        public var category: String? { request?.category ?? ran?.category }
        /// The position that is searched around; `nil` when it is not known.
        public var location: Coordinate? { request?.location ?? ran?.location }
        /// The radius in metres that was asked for; `nil` when it is not known.
        public var radiusMeters: Double? { request?.radiusMeters ?? ran?.radiusMeters }
    }

    /// A request without an outcome.
    public struct PendingRequest: Sendable, Hashable {
        /// The request.
        public let request: SearchRequest
        /// The time at which it was sent.
        public let sentAt: EventTime

        /// The id of the request.
        public var requestID: String { request.requestID }
        /// The operation that the request asks for.
        public var operation: SearchOperation { request.operation }
        /// True when the request is for a further page of a search.
        public var isPage: Bool { request.operation == .search && request.pageToken != nil }
    }
}
