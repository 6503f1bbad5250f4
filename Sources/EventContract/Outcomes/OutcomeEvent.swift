public import LocationSearch

/// An outcome as a consumer reads it: what a newer worker may say that is not known here is kept as text.
public struct OutcomeEvent: Sendable, Hashable {
    public enum Body: Sendable, Hashable {
        case completed(SearchOutcome.Result)
        case failed(Failure)
    }

    /// `error` of an error event.
    public struct Failure: Sendable, Hashable {
        /// One of `SearchError.Code`'s raw values, or one that is not known here.
        public var code: String
        public var message: String
        public var isRetryable: Bool
        public var retryAfter: Duration?
        public var httpStatus: Int?
        public var providerStatus: String?
        public var member: String?

        public init(
            code: String, message: String, isRetryable: Bool, retryAfter: Duration? = nil, httpStatus: Int? = nil,
            providerStatus: String? = nil, member: String? = nil
        ) {
            self.code = code
            self.message = message
            self.isRetryable = isRetryable
            self.retryAfter = retryAfter
            self.httpStatus = httpStatus
            self.providerStatus = providerStatus
            self.member = member
        }
    }

    public var requestID: String
    /// As written; `nil` for a record whose operation could not be read.
    public var operation: String?
    public var provider: String?
    /// More than one after a fallback, else empty.
    public var triedProviders: [String] = []
    public var sessionID: String?
    public var body: Body
    /// Places that could not be read, such as those of a provider that is not known here.
    public var unreadablePlaces = 0
    public var receivedAt: EventTime?
    public var completedAt: EventTime?
    public var upstream: Duration?
    public var attempts: Int?
    /// `ce_id`, with `ce_source` the same for every copy of one request's outcome.
    public var id: String?
    /// Where the request stood.
    public var source: SourcePosition?
    public var traceID: String?
}
