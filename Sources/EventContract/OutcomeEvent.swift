package import LocationSearch

/// An outcome as a consumer reads it: what a newer worker may say that is not known here is kept as text.
package struct OutcomeEvent: Sendable, Hashable {
    package enum Body: Sendable, Hashable {
        case completed(SearchOutcome.Result)
        case failed(Failure)
    }

    /// `error` of an error event.
    package struct Failure: Sendable, Hashable {
        /// One of `SearchError.Code`'s raw values, or one that is not known here.
        package var code: String
        package var message: String
        package var isRetryable: Bool
        package var retryAfter: Duration?
        package var httpStatus: Int?
        package var providerStatus: String?
        package var member: String?

        package init(
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

    package var requestID: String
    /// As written; `nil` for a record whose operation could not be read.
    package var operation: String?
    package var provider: String?
    /// More than one after a fallback, else empty.
    package var triedProviders: [String] = []
    package var sessionID: String?
    package var body: Body
    /// Places that could not be read, such as those of a provider that is not known here.
    package var unreadablePlaces = 0
    package var receivedAt: EventTime?
    package var completedAt: EventTime?
    package var upstream: Duration?
    package var attempts: Int?
    /// `ce_id`, with `ce_source` the same for every copy of one request's outcome.
    package var id: String?
    /// Where the request stood.
    package var source: SourcePosition?
    package var traceID: String?
}
