import HTTPTransport
import LocationSearch

/// The meaning of a failure that a provider names. For failures outside this table, the HTTP status decides: see
/// `SearchError(httpStatus:of:from:)`.
enum ProviderRefusal {
    case refusedKey, blockedKey, noBilling, rateLimit, dailyQuota, badParameter, unknownPlace, unavailable, rejected

    private static let table: [String: ProviderRefusal] = [
        // Google: `ErrorInfo.reason`
        "API_KEY_INVALID": .refusedKey, "CREDENTIALS_MISSING": .refusedKey, "ACCESS_TOKEN_EXPIRED": .refusedKey,
        "BILLING_DISABLED": .noBilling, "CONSUMER_SUSPENDED": .noBilling, "CONSUMER_INVALID": .noBilling,
        "SERVICE_DISABLED": .blockedKey, "API_KEY_SERVICE_BLOCKED": .blockedKey,
        "API_KEY_HTTP_REFERRER_BLOCKED": .blockedKey, "API_KEY_IP_ADDRESS_BLOCKED": .blockedKey,
        "API_KEY_ANDROID_APP_BLOCKED": .blockedKey, "API_KEY_IOS_APP_BLOCKED": .blockedKey,
        "RATE_LIMIT_EXCEEDED": .rateLimit, "RESOURCE_QUOTA_EXCEEDED": .rateLimit,
        // Google: `errors[].reason`, the older format
        "keyInvalid": .refusedKey, "keyExpired": .refusedKey, "authError": .refusedKey,
        "accessNotConfigured": .blockedKey, "ipRefererBlocked": .blockedKey, "quotaExceeded": .rateLimit,
        "rateLimitExceeded": .rateLimit, "rateLimitExceededUnreg": .rateLimit, "userRateLimitExceeded": .rateLimit,
        "userRateLimitExceededUnreg": .rateLimit, "dailyLimitExceeded": .dailyQuota,
        "dailyLimitExceededUnreg": .dailyQuota, "badRequest": .badParameter, "invalidParameter": .badParameter,
        "notFound": .unknownPlace, "backendError": .unavailable, "internalError": .unavailable,
        // Google: `status`
        "INVALID_ARGUMENT": .badParameter, "FAILED_PRECONDITION": .badParameter, "OUT_OF_RANGE": .badParameter,
        "UNAUTHENTICATED": .refusedKey, "PERMISSION_DENIED": .blockedKey, "NOT_FOUND": .unknownPlace,
        "RESOURCE_EXHAUSTED": .rateLimit, "UNKNOWN": .unavailable, "INTERNAL": .unavailable, "UNIMPLEMENTED": .rejected,
        "DATA_LOSS": .unavailable, "UNAVAILABLE": .unavailable, "DEADLINE_EXCEEDED": .unavailable,
        // Google's legacy API: `status`, in addition to `NOT_FOUND`
        "INVALID_REQUEST": .badParameter, "REQUEST_DENIED": .refusedKey, "OVER_QUERY_LIMIT": .rateLimit,
        "OVER_DAILY_LIMIT": .dailyQuota, "UNKNOWN_ERROR": .unavailable,
        // Hot Pepper: `code`
        "1000": .unavailable, "2000": .refusedKey, "3000": .badParameter,
    ]

    /// Returns the meaning of the first name in the table.
    /// - Parameter isDaily: true if an exceeded limit is the day's.
    static func named(_ names: String?..., isDaily: Bool = false) -> ProviderRefusal? {
        let refusal = names.lazy.compactMap { $0.flatMap { table[$0] } }.first
        return refusal == .rateLimit && isDaily ? .dailyQuota : refusal
    }

    /// Returns the failure in the contract's terms.
    func error(of provider: ProviderID, in response: HTTPResponse, providerStatus: String?) -> SearchError {
        let name = provider.rawValue
        let (code, text): (SearchError.Code, String) =
            switch self {
            case .refusedKey:
                (
                    .unauthorized,
                    "\(name) rejected the API key; check \(provider == .hotpepper ? "hotpepper" : "googlePlaces").apiKey"
                )
            case .blockedKey:
                (.unauthorized, "the API key has no access to \(name); allow it the Places API (New)")
            case .noBilling: (.unauthorized, "the API key's project has no billing or is suspended")
            case .rateLimit: (.rateLimited, "\(name) limits the call rate")
            case .dailyQuota: (.rateLimited, "the daily quota of \(name) is used up, or billing is not set up")
            case .badParameter: (.invalidRequest, "\(name) rejected a parameter of the request")
            case .unknownPlace: (.notFound, "\(name) has no such place; its id may be outdated: search again")
            case .unavailable: (.upstreamUnavailable, "\(name) is not available; try again later")
            case .rejected: (.upstreamRejected, "\(name) rejected the request, because it does not support the call")
            }
        var error = SearchError(code, text, httpStatus: response.status, providerStatus: providerStatus)
        if code.isRetryable { error.retryAfter = SearchError.delay(of: response) }
        // Google's quota days end at midnight in California, but an operator may raise the quota before.
        if case .dailyQuota = self { (error.allowsAttempt, error.retryAfter) = (false, .seconds(3600)) }
        return error
    }
}
