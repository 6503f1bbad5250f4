import Resilience

/// What a failed call says about the provider.
extension SearchError {
    /// A refused key stays refused until a person acts. Asking once in five minutes finds out that somebody did.
    private static let unauthorizedPause: Duration = .seconds(300)
    /// The pause for a used-up quota when the provider does not say when it begins anew.
    private static let quotaPause: Duration = .seconds(3600)

    /// Returns what a call that failed in this way says about the provider's health.
    /// - Parameter duration: how long the call took.
    /// - Parameter tellingTimeout: a timeout that came earlier says nothing: the call had too little time.
    func health(after duration: Duration, tellingTimeout: Duration) -> CircuitBreaker.Outcome {
        switch code {
        case .upstreamUnavailable, .unreachable, .badResponse: return .failure
        case .timeout: return duration >= tellingTimeout ? .failure : .ignored
        case .unauthorized where isUnexplained: return .failure
        case .unauthorized: return .trip(for: Self.unauthorizedPause)
        case .rateLimited where !allowsAttempt: return .trip(for: retryAfter ?? Self.quotaPause)
        case .notFound: return .success
        case .rateLimited, .invalidRequest, .upstreamRejected, .circuitOpen, .superseded, .expired, .internal:
            return .ignored
        }
    }

    /// What the failure says about how much the provider has to do.
    var load: AdaptiveLimit.Outcome {
        switch code {
        case .timeout: .timedOut
        case .upstreamUnavailable where httpStatus == 503: .overloaded
        case .rateLimited where allowsAttempt: .overloaded
        case .unreachable: .ignored
        default: httpStatus == nil ? .ignored : .answered
        }
    }

    /// Whether another provider may do better: this one failed for the moment, not for the request's own fault.
    var allowsFallback: Bool { code.isRetryable && code != .internal }

    // MARK: - Calls that were not made

    /// The failure of a request that met an open breaker.
    static func circuitOpen(_ provider: ProviderID, for pause: Duration) -> SearchError {
        SearchError(
            .circuitOpen, "\(provider.rawValue) is failing and is not asked for now; send the request again later",
            retryAfter: pause)
    }

    /// The failure of a request that a limiter could not let through in time.
    static func limited(_ error: LimitError, by provider: ProviderID) -> SearchError {
        switch error {
        case .cancelled: .timedOut
        case .tooLate(let retryAfter):
            SearchError(
                .rateLimited,
                "\(provider.rawValue) could not be asked within the deadline at the rate and concurrency that are allowed; send the request again later, or allow more time",
                retryAfter: retryAfter, allowsAttempt: false)
        }
    }
}
