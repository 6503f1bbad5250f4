import Basics

/// The reason why a request has no result: one type for all failures.
public struct SearchError: Error, Hashable, Sendable {
    /// `error.code` of the event. Raw values are contract: add, never rename.
    public enum Code: String, CaseIterable, Sendable {
        /// The record is not a request, or the provider refused its parameters.
        case invalidRequest = "invalid-request"
        /// The API key is missing, wrong, or not allowed.
        case unauthorized
        /// A quota or rate limit, the provider's or ours, is used up.
        case rateLimited = "rate-limited"
        /// The place of details or a photo does not exist.
        case notFound = "not-found"
        /// The deadline passed.
        case timeout
        /// The connection failed or was reset.
        case unreachable
        /// The provider reported that it cannot answer at present.
        case upstreamUnavailable = "upstream-unavailable"
        /// The provider refused in another way.
        case upstreamRejected = "upstream-rejected"
        /// The answer cannot be read, or is too large.
        case badResponse = "bad-response"
        /// The provider is failing and was not called.
        case circuitOpen = "circuit-open"
        /// A newer request of the same session arrived.
        case superseded
        /// The request was too old to be useful when it was read.
        case expired
        /// A defect of the worker.
        case `internal`

        /// True if the producer may send the request again with a chance of success: the contract's table.
        public var isRetryable: Bool {
            switch self {
            case .rateLimited, .timeout, .unreachable, .upstreamUnavailable, .badResponse, .circuitOpen, .internal: true
            case .invalidRequest, .unauthorized, .notFound, .upstreamRejected, .superseded, .expired: false
            }
        }
    }

    /// `error.limit` of the event: the worker's limit that refused the call. Raw values are contract: add, never rename.
    public enum Limit: String, CaseIterable, Sendable {
        /// The rate of calls that the settings allow (`requestsPerSecond`), or the loop's share of it.
        case rate
        /// The maximum number of concurrent calls. A slow provider lowers this limit.
        case concurrency
        /// A budget of the settings (`callsPerDay`, `budgets`), or its part that is not kept for interactive requests.
        case budget
        /// The queue of requests that have not begun: too many of the same class and tenant are ahead.
        case queue
    }

    /// The details of a failure, apart from its kind.
    private struct Details: Hashable, Sendable {
        var message: String
        var retryAfter: Duration?
        var httpStatus: Int?
        var providerStatus: String?
        var member: String?
        var limit: Limit?
        var account: String?
    }

    /// The kind of failure.
    public var code: Code
    // Boxed, because nearly all requests succeed, and each of their many frames has space for a failure.
    @Boxed private var details: Details
    /// One line for a person, including what to do. Holds no API key and no bytes of the record.
    public var message: String {
        get { details.message }
        set { details.message = newValue }
    }
    /// The time to wait before a retry, from now; whole milliseconds, at least 1. `nil`: the provider gave none.
    public var retryAfter: Duration? {
        get { details.retryAfter }
        set { details.retryAfter = newValue }
    }
    /// The status of the provider's HTTP answer, if there was one.
    public var httpStatus: Int? {
        get { details.httpStatus }
        set { details.httpStatus = newValue }
    }
    /// The provider's own name of the failure (`OVER_QUERY_LIMIT`, `RESOURCE_EXHAUSTED`, Hot Pepper's `3000`).
    public var providerStatus: String? {
        get { details.providerStatus }
        set { details.providerStatus = newValue }
    }
    /// The faulty member of the request (`location.latitude`).
    public var member: String? {
        get { details.member }
        set { details.member = newValue }
    }
    /// The worker's own limit that refused the call; `nil` if none of them is the cause.
    public var limit: Limit? {
        get { details.limit }
        set { details.limit = newValue }
    }
    /// The account of the budget that refused the call, such as `google-places/month`; `nil` if no budget did. It opens again
    /// after `retryAfter`.
    public var account: String? {
        get { details.account }
        set { details.account = newValue }
    }
    /// True if another attempt within the same request makes sense. Narrower than `isRetryable`: a used-up daily quota is
    /// worth a retry tomorrow, but not in this second.
    public var allowsAttempt: Bool
    /// True if the answer gives no reason for its refusal. A 403 without details may mean our key, or a firewall that
    /// dislikes one request. Only an explained refusal may shut the provider for all requests at once.
    public var isUnexplained = false
    /// True if a kept-alive connection ended before the answer. That is no evidence about the provider's health.
    public var isStale = false

    /// - Parameter allowsAttempt: `nil`: as the code's `isRetryable`, except for `circuitOpen` and `internal`, where
    ///   another attempt does not help.
    public init(
        _ code: Code, _ message: String, retryAfter: Duration? = nil, httpStatus: Int? = nil,
        providerStatus: String? = nil, member: String? = nil, limit: Limit? = nil, allowsAttempt: Bool? = nil
    ) {
        self.code = code
        details = Details(
            message: message, retryAfter: retryAfter, httpStatus: httpStatus, providerStatus: providerStatus,
            member: member, limit: limit)
        self.allowsAttempt = allowsAttempt ?? (code.isRetryable && code != .circuitOpen && code != .internal)
    }

    /// Returns the error for a member of the request that is missing, of the wrong type or out of range.
    public static func invalid(_ member: String, expected: String) -> SearchError {
        SearchError(.invalidRequest, "\(member) is not valid: expected \(expected)", member: member)
    }

    /// Returns the error for a request that the chosen provider cannot serve.
    public static func unsupported(_ member: String, by provider: ProviderID, cure: String) -> SearchError {
        SearchError(.invalidRequest, "\(provider.rawValue) cannot serve this \(member): \(cure)", member: member)
    }

    /// Returns the error for a provider without an API key in the settings. Without this check, its answer would look like
    /// a fault of the request.
    public static func noKey(of provider: ProviderID) -> SearchError {
        SearchError(.unauthorized, "\(provider.rawValue) has no API key in this worker's settings")
    }

    /// The request's deadline passed.
    public static let timedOut = SearchError(
        .timeout, "the deadline passed before the provider answered; try again, or allow more time with timeoutMs")
}

extension SearchError {
    /// The outcome of a search that a newer one in its session has replaced.
    public static let superseded = SearchError(.superseded, "a newer request of the same session arrived")

    /// The outcome of a search whose result is too large for the results topic.
    public static let resultTooLarge = SearchError(
        .badResponse, "the result is larger than the results topic accepts; reduce limit")
}
