/// An error of a provider, with its form in each of the three APIs.
struct ProviderError: Hashable, Sendable {
    /// The name after `fault:`, in lower case.
    let name: String
    /// Hot Pepper's `error.code`. 0 means that Hot Pepper has no code for the error and answers with HTTP 429.
    let hotpepperCode: Int
    /// The `status` and `error_message` in Google's older API.
    let legacyStatus: String
    let legacyMessage: String
    /// The HTTP code, the `status`, and the `reason` of ErrorInfo in Google Places (New).
    let code: Int
    let status: String
    let reason: String?
    /// The `quota_limit` of ErrorInfo, which only code 429 has.
    let quotaLimit: String?

    private init(
        _ name: String, hotpepper hotpepperCode: Int, legacy legacyStatus: String, message legacyMessage: String = "",
        code: Int, status: String, reason: String? = nil, quotaLimit: String? = nil
    ) {
        self.name = name
        self.hotpepperCode = hotpepperCode
        (self.legacyStatus, self.legacyMessage) = (legacyStatus, legacyMessage)
        (self.code, self.status, self.reason, self.quotaLimit) = (code, status, reason, quotaLimit)
    }

    static let keyInvalid = ProviderError(
        "unauthorized", hotpepper: 2000, legacy: "REQUEST_DENIED", message: "The provided API key is invalid.",
        code: 400, status: "INVALID_ARGUMENT",
        reason: "API_KEY_INVALID")
    static let keyMissing = ProviderError(
        "key-missing", hotpepper: 3000, legacy: "REQUEST_DENIED",
        message: "You must use an API key to authenticate each request.", code: 403, status: "PERMISSION_DENIED")
    static let denied = ProviderError(
        "permission_denied", hotpepper: 2000, legacy: "REQUEST_DENIED",
        message: "This API project is not authorized to use this API.", code: 403, status: "PERMISSION_DENIED",
        reason: "API_KEY_SERVICE_BLOCKED")
    static let invalid = ProviderError(
        "invalid", hotpepper: 3000, legacy: "INVALID_REQUEST", code: 400, status: "INVALID_ARGUMENT")
    static let notFound = ProviderError(
        "not-found", hotpepper: 3000, legacy: "NOT_FOUND", code: 404, status: "NOT_FOUND")
    static let server = ProviderError(
        "server-error", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 500, status: "INTERNAL")
    static let rateLimited = ProviderError(
        "rate-limited", hotpepper: 0, legacy: "OVER_QUERY_LIMIT",
        message: "You have exceeded your rate-limit for this API.", code: 429, status: "RESOURCE_EXHAUSTED",
        reason: "RATE_LIMIT_EXCEEDED", quotaLimit: "SearchNearbyRequestPerMinutePerProject")
    static let rateLimitedForToday = ProviderError(
        "rate-limited-day", hotpepper: 0, legacy: "OVER_QUERY_LIMIT",
        message: "You have exceeded your daily request quota for this API.", code: 429, status: "RESOURCE_EXHAUSTED",
        reason: "RATE_LIMIT_EXCEEDED", quotaLimit: "SearchNearbyRequestPerDayPerProject")

    private static func forbidden(_ reason: String) -> ProviderError {
        ProviderError(
            reason.lowercased(), hotpepper: 2000, legacy: "REQUEST_DENIED",
            message: "Requests of this kind are blocked for this API key.", code: 403, status: "PERMISSION_DENIED",
            reason: reason)
    }

    /// Returns an error without a message and a reason. Its name is its status in Google Places (New).
    private static func bare(_ name: String, hotpepper: Int, legacy: String, code: Int) -> ProviderError {
        ProviderError(name.lowercased(), hotpepper: hotpepper, legacy: legacy, code: code, status: name)
    }

    /// The errors by name. A name from one API stands for the nearest error in the others.
    static let all: [String: ProviderError] = {
        var list = [
            keyInvalid, keyMissing, denied, invalid, notFound, server, rateLimited, rateLimitedForToday,
            ProviderError(
                "over_daily_limit", hotpepper: 0, legacy: "OVER_DAILY_LIMIT",
                message: "You have exceeded your daily request quota for this API.", code: 429,
                status: "RESOURCE_EXHAUSTED", reason: "RATE_LIMIT_EXCEEDED", quotaLimit: "ApiCallsPerProjectPerDay"),
            ProviderError(
                "legacy-off", hotpepper: 2000, legacy: "REQUEST_DENIED",
                message: "You're calling a legacy API, which is not enabled for your project.", code: 403,
                status: "PERMISSION_DENIED",
                reason: "SERVICE_DISABLED"),
            ProviderError(
                "credentials_missing", hotpepper: 2000, legacy: "REQUEST_DENIED",
                message: "The provided API key is invalid.", code: 401, status: "UNAUTHENTICATED",
                reason: "CREDENTIALS_MISSING"),
            ProviderError(
                "access_token_expired", hotpepper: 2000, legacy: "REQUEST_DENIED",
                message: "The provided API key is expired.", code: 401, status: "UNAUTHENTICATED",
                reason: "ACCESS_TOKEN_EXPIRED"),
            ProviderError(
                "unauthenticated", hotpepper: 2000, legacy: "REQUEST_DENIED", code: 401, status: "UNAUTHENTICATED"),
            ProviderError(
                "unknown_status", hotpepper: 9999, legacy: "SOMETHING_NEW", code: 418, status: "SOMETHING_NEW"),
            ProviderError("zero_results", hotpepper: 3000, legacy: "ZERO_RESULTS", code: 404, status: "NOT_FOUND"),
            bare("FAILED_PRECONDITION", hotpepper: 3000, legacy: "INVALID_REQUEST", code: 400),
            bare("OUT_OF_RANGE", hotpepper: 3000, legacy: "INVALID_REQUEST", code: 400),
            bare("ABORTED", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 409),
            bare("ALREADY_EXISTS", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 409),
            bare("CANCELLED", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 499),
            bare("UNKNOWN", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 500),
            bare("DATA_LOSS", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 500),
            bare("UNIMPLEMENTED", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 501),
            bare("UNAVAILABLE", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 503),
            bare("DEADLINE_EXCEEDED", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 504),
        ]
        list += [
            "SERVICE_DISABLED", "BILLING_DISABLED", "API_KEY_SERVICE_BLOCKED", "API_KEY_HTTP_REFERRER_BLOCKED",
            "API_KEY_IP_ADDRESS_BLOCKED", "API_KEY_ANDROID_APP_BLOCKED", "API_KEY_IOS_APP_BLOCKED",
            "CONSUMER_SUSPENDED", "CONSUMER_INVALID",
        ].map(forbidden)
        // bounded: the names in the list above
        var table = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0) })
        let synonyms: [(String, ProviderError)] = [
            ("1000", server), ("unknown_error", server), ("internal", server), ("2000", keyInvalid),
            ("request_denied", keyInvalid), ("api_key_invalid", keyInvalid), ("3000", invalid),
            ("invalid_request", invalid), ("invalid_argument", invalid), ("not_found", notFound),
            ("over_query_limit", rateLimited), ("resource_exhausted", rateLimited), ("perminute", rateLimited),
            ("perday", rateLimitedForToday), ("over_query_limit_daily", rateLimitedForToday),
        ]
        for (name, error) in synonyms { table[name] = error }
        return table
    }()
}
