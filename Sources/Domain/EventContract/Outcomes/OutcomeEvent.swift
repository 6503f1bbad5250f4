public import LocationSearch

/// An outcome as a consumer reads it. Names that this version does not know are kept as text.
public struct OutcomeEvent: Sendable, Hashable {
    /// The result or the error.
    public enum Body: Sendable, Hashable {
        case completed(SearchOutcome.Result)
        case failed(Failure)
    }

    /// The `error` of an error event.
    public struct Failure: Sendable, Hashable {
        /// One of `SearchError.Code`'s raw values, or an unknown one.
        public var code: String
        /// One line for a person.
        public var message: String
        /// True if the same request may succeed later.
        public var isRetryable: Bool
        /// The time to wait before a retry; `nil` if unknown.
        public var retryAfter: Duration?
        /// The HTTP status of the provider's answer, if there was one.
        public var httpStatus: Int?
        /// The provider's own name of the failure.
        public var providerStatus: String?
        /// The name of the faulty part, such as a member of the request.
        public var member: String?
        /// One of `SearchError.Limit`'s raw values, or an unknown one; `nil` if none of the worker's limits is the cause.
        public var limit: String?
        /// The account of the budget that refused the call, and the time at which its next period begins.
        public var account: String?
        public var opensAt: WallTime?
    }

    public var requestID: String
    /// The name of the operation; `nil` if it could not be read from the request.
    public var operation: String?
    /// The name of the provider that answered or failed, or that the request names.
    public var provider: String?
    /// The names of all providers that were tried, in order, if there was more than one; otherwise empty.
    public var triedProviders: [String] = []
    /// The session of the request.
    public var sessionID: String?
    /// The result or the error.
    public var body: Body
    /// The number of places that could not be read, for example because of an unknown provider.
    public var unreadablePlaces = 0
    /// The time at which the worker began the request; it may have read the record earlier.
    public var receivedAt: WallTime?
    /// The time at which the outcome was written.
    public var completedAt: WallTime?
    /// The time spent waiting for providers, whole milliseconds.
    public var upstream: Duration?
    /// The number of calls made for the request.
    public var attempts: Int?
    /// The `ce_id`. Together with `ce_source`, it is the same for every copy of one request's outcome.
    public var id: String?
    /// The position of the request in its topic.
    public var source: SourcePosition?
    /// The id of the trace that the request belongs to.
    public var traceID: String?

    /// The steps of the request; `nil` if the event lists none.
    public var steps: Steps?
}

/// The error for a record that is not an outcome event.
public struct UnreadableOutcome: Error, Sendable, Hashable {
    /// The reason, for a person. Holds none of the record's bytes.
    public let message: String
}
