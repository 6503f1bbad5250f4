public import LocationSearch
import QuotaSharing
import Resilience

/// Conclusions about a provider from a failed call.
extension SearchError {
    /// A refused key stays refused until an operator acts. One call in five minutes checks whether that has happened.
    private static let unauthorizedPause: Duration = .seconds(300)
    /// The pause for a used-up quota if the provider does not report when the quota is renewed.
    private static let quotaPause: Duration = .seconds(3600)

    /// Returns how a call that failed in this way counts towards the provider's health.
    /// - Parameter duration: the duration of the call.
    /// - Parameter conclusiveTimeout: the shortest timeout that counts as a failure. With less time, the timeout may be the caller's fault.
    func health(after duration: Duration, conclusiveTimeout: Duration) -> CircuitBreaker.Outcome {
        switch code {
        case .upstreamUnavailable, .unreachable, .badResponse: return .failure
        case .timeout: return duration >= conclusiveTimeout ? .failure : .ignored
        case .unauthorized where isUnexplained: return .failure
        case .unauthorized: return .trip(for: Self.unauthorizedPause, because: .keyRefused)
        case .rateLimited where !allowsAttempt: return .trip(for: retryAfter ?? Self.quotaPause, because: .quotaUsedUp)
        case .notFound: return .success
        case .rateLimited, .invalidRequest, .upstreamRejected, .circuitOpen, .superseded, .expired, .internal:
            return .ignored
        }
    }

    /// The pause that the provider requested (`Retry-After`, Google's RetryInfo), and why; `nil` if it requested none.
    ///
    /// A used-up quota is not a pause: it opens the breaker until the quota is renewed.
    var requestedPause: (duration: Duration, reason: CircuitBreaker.Reason)? {
        guard allowsAttempt, let retryAfter else { return nil }
        return switch code {
        case .rateLimited: (retryAfter, .providerRateLimit)
        case .upstreamUnavailable: (retryAfter, .providerUnavailable)
        default: nil
        }
    }

    /// The effect on the estimate of the provider's load.
    var load: LoadSignal {
        switch code {
        case .timeout: .timedOut
        case .upstreamUnavailable where httpStatus == 503: .overloaded
        case .rateLimited where allowsAttempt: .overloaded
        case .unreachable: .ignored
        default: httpStatus == nil ? .ignored : .answered
        }
    }

    /// True if another provider may succeed: the failure is temporary or concerns the worker's API key, not the request itself.
    var allowsFallback: Bool { (code.isRetryable && code != .internal) || code == .unauthorized }

    // MARK: - Calls that were not made

    /// The failure of a request whose provider must not be called for now. The text names the reason, because the remedies differ.
    static func shut(_ provider: ProviderID, for time: Duration, because reason: CircuitBreaker.Reason?) -> SearchError
    {
        let name = provider.rawValue
        let message =
            switch reason {
            case .keyRefused:
                "\(name) rejected this worker's API key, so calls to it are paused; configure a key that it accepts"
            case .quotaUsedUp:
                "the quota of this worker's API key at \(name) is used up; send the request again later, or raise the quota"
            case .providerRateLimit:
                "\(name) reported too many calls and requested a pause; send the request again later"
            case .providerUnavailable:
                "\(name) reported that it is unavailable and requested a pause; send the request again later"
            case .pausedByOrder:
                "\(name) is paused by the operators of this service (locsearch controls); send the request again later"
            case .failureRate, .slowCallRate, .probesFailed, .budgetUsedUp, nil:
                "\(name) is failing, so calls to it are paused; send the request again later"
            }
        let code: Code =
            switch reason {
            case .keyRefused: .unauthorized
            case .quotaUsedUp, .providerRateLimit: .rateLimited
            case .providerUnavailable, .pausedByOrder, .failureRate, .slowCallRate, .probesFailed, .budgetUsedUp, nil:
                .circuitOpen
            }
        return SearchError(code, message, retryAfter: time, allowsAttempt: false)
    }

    /// The failure of a request for which a budget allows no call.
    static func refused(by budget: Budget, because refusal: BudgetAccount.Refusal) -> SearchError {
        let what = refusal.isKeptForInteractive ? "has only what is kept for interactive requests" : "is used up"
        var error = SearchError(
            .rateLimited,
            "this fleet's budget \(budget.account) of the \(budget.span.rawValue) \(what); send the request again later, or raise the budget with locsearch budget set \(budget.account)",
            retryAfter: refusal.retryAfter, limit: .budget, allowsAttempt: false)
        error.account = budget.account
        return error
    }

    /// The failure of a call that was abandoned before its request's deadline.
    static func givenUp(_ provider: ProviderID) -> SearchError {
        SearchError(
            .timeout, "\(provider.rawValue) took far longer to answer than usual; send the request again")
    }

    /// The failure of a request that would reach the head of the queue too late to begin its call.
    /// - Parameter retryAfter: the estimated wait, based on the waiting requests of its class and tenant.
    public static func queueTooLong(at provider: ProviderID, retryAfter: Duration) -> SearchError {
        SearchError(
            .rateLimited,
            "\(provider.rawValue) could not be called before the request expires, because too many requests of its class and tenant are queued; send it again later, or allow more time",
            retryAfter: retryAfter, limit: .queue, allowsAttempt: false)
    }

    /// The failure of a request whose call could not begin in time.
    /// - Parameter limit: the limit that the call would wait for.
    /// - Parameter retryAfter: the time until a call may begin; `nil` if that is not known.
    static func tooLate(_ limit: Limit, retryAfter: Duration?, by provider: ProviderID) -> SearchError {
        let name = provider.rawValue
        let reason =
            switch limit {
            case .rate: "at the allowed rate (requestsPerSecond, methodLimits)"
            case .concurrency: "because too many calls are in flight (adaptive concurrency)"
            case .budget: "because no call of its budgets was reserved in time"
            case .queue: "because too many requests are queued"
            }
        return SearchError(
            .rateLimited,
            "\(name) could not be called within the deadline \(reason); send the request again later, or allow more time",
            retryAfter: retryAfter.flatMap { $0 > .zero ? $0 : nil }, limit: limit, allowsAttempt: false)
    }

    /// The failure of a request for which it became too late to begin a call: it was parked, or waited in the queue.
    static func overWhileWaiting(for provider: ProviderID) -> SearchError {
        SearchError(
            .expired,
            "the request reached worker.maxAge or its expirytime while it waited for calls to \(provider.rawValue); send a new request if the result is still needed"
        )
    }
}
