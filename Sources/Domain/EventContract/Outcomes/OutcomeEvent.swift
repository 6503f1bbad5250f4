public import LocationSearch

/// An outcome as a consumer reads it. Names that only a newer worker knows are kept as text.
public struct OutcomeEvent: Sendable, Hashable {
    /// The part that tells a result from an error.
    public enum Body: Sendable, Hashable {
        /// A result.
        case completed(SearchOutcome.Result)
        /// An error.
        case failed(Failure)
    }

    /// The `error` of an error event.
    public struct Failure: Sendable, Hashable {
        /// One of `SearchError.Code`'s raw values, or one that is not known here.
        public var code: String
        /// One line for a person.
        public var message: String
        /// True when the same request may succeed later.
        public var isRetryable: Bool
        /// The time to wait before asking again; `nil` when nobody knows.
        public var retryAfter: Duration?
        /// The HTTP status of the provider's answer, if there was one.
        public var httpStatus: Int?
        /// The provider's own name of the failure.
        public var providerStatus: String?
        /// The name of what is at fault, such as a member of the request.
        public var member: String?
        /// One of `SearchError.Limit`'s raw values, or one that is not known here; `nil` where none of the worker's limits is the cause.
        public var limit: String?

        /// A failure with a code and a message at least.
        public init(
            code: String, message: String, isRetryable: Bool, retryAfter: Duration? = nil, httpStatus: Int? = nil,
            providerStatus: String? = nil, member: String? = nil, limit: String? = nil
        ) {
            self.code = code
            self.message = message
            self.isRetryable = isRetryable
            self.retryAfter = retryAfter
            self.httpStatus = httpStatus
            self.providerStatus = providerStatus
            self.member = member
            self.limit = limit
        }
    }

    /// The id of the request.
    public var requestID: String
    /// The name of the operation; `nil` when it could not be read from the request.
    public var operation: String?
    /// The name of the provider that answered or failed, or that the request names.
    public var provider: String?
    /// The names of all providers that were asked, in order, if there was more than one; else empty.
    public var triedProviders: [String] = []
    /// The session of the request.
    public var sessionID: String?
    /// The result or the error.
    public var body: Body
    /// The number of places that could not be read, such as those of a provider that is not known here.
    public var unreadablePlaces = 0
    /// The time at which the worker took the request.
    public var receivedAt: EventTime?
    /// The time at which the outcome was written.
    public var completedAt: EventTime?
    /// The time spent waiting for providers, whole milliseconds.
    public var upstream: Duration?
    /// The number of calls made for the request.
    public var attempts: Int?
    /// The `ce_id`, which together with `ce_source` is the same for every copy of one request's outcome.
    public var id: String?
    /// The position of the request in its topic.
    public var source: SourcePosition?
    /// The id of the trace that the request belongs to.
    public var traceID: String?

    /// The steps of the request on its way to its providers; `nil` when the event names none.
    public var steps: Steps?

    /// An outcome, as tests of its readers need it; ``OutcomeReader`` makes those of records.
    public init(
        requestID: String, operation: String? = nil, provider: String? = nil, triedProviders: [String] = [],
        sessionID: String? = nil, body: Body, unreadablePlaces: Int = 0, receivedAt: EventTime? = nil,
        completedAt: EventTime? = nil, upstream: Duration? = nil, attempts: Int? = nil, id: String? = nil,
        source: SourcePosition? = nil, traceID: String? = nil, steps: Steps? = nil
    ) {
        self.requestID = requestID
        self.operation = operation
        self.provider = provider
        self.triedProviders = triedProviders
        self.sessionID = sessionID
        self.body = body
        self.unreadablePlaces = unreadablePlaces
        self.receivedAt = receivedAt
        self.completedAt = completedAt
        self.upstream = upstream
        self.attempts = attempts
        self.id = id
        self.source = source
        self.traceID = traceID
        self.steps = steps
    }
}

/// A record that is no outcome event.
public struct UnreadableOutcome: Error, Sendable, Hashable {
    /// Says why, for a person. Holds none of the record's bytes.
    public let message: String
}
