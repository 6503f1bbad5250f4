public import EventContract
public import LocationSearch

extension SessionState {
    /// A search and its status.
    public struct Search: Sendable, Hashable {
        /// The status of a request.
        public enum Status: Sendable, Hashable {
            /// The request has no outcome yet.
            case inFlight
            /// The request has a result, which may be an empty list.
            case completed
            /// The request has an error, which is in ``SessionState/error`` unless the search was superseded.
            case failed
        }

        /// The id of the request.
        public let requestID: String
        /// The status of the search.
        public let status: Status
        /// The time at which the request was sent; `nil` if only its outcome was seen.
        public let sentAt: WallTime?
        /// The request; `nil` if only its outcome was seen.
        public let request: SearchRequest?
        /// The search as the provider ran it; `nil` before it completed.
        public let ran: SearchOutcome.Search?

        /// The category of the search; `nil` if unknown.
        public var category: String? { request?.category ?? ran?.category }
        /// The centre of the search; `nil` if unknown.
        public var location: Coordinate? { request?.location ?? ran?.location }
        /// The requested radius in metres; `nil` if unknown.
        public var radiusMeters: Double? { request?.radiusMeters ?? ran?.radiusMeters }
    }

    /// A request without an outcome.
    public struct PendingRequest: Sendable, Hashable {
        /// The request.
        public let request: SearchRequest
        /// The time at which it was sent.
        public let sentAt: WallTime

        /// The id of the request.
        public var requestID: String { request.requestID }
        /// The operation of the request.
        public var operation: SearchOperation { request.operation }
    }
}
