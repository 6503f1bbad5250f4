/// One thing that a provider says is wrong, in the words of all three.
struct ProviderError: Hashable, Sendable {
    /// The spelling after `fault:`, in lower case.
    let name: String
    /// `error.code`; 0: not a code of Hot Pepper's, answered with HTTP 429.
    let hotpepperCode: Int
    /// Legacy's `status` and `error_message`.
    let legacyStatus: String
    let legacyMessage: String
    /// New's HTTP code, `status`, and ErrorInfo's `reason`.
    let code: Int
    let status: String
    let reason: String?
    /// ErrorInfo's `quota_limit`, for 429 only.
    let quotaLimit: String?

    private init(
        _ name: String, hp: Int, _ legacyStatus: String, message legacyMessage: String = "", _ code: Int,
        _ status: String,
        reason: String? = nil, quotaLimit: String? = nil
    ) {
        self.name = name
        hotpepperCode = hp
        (self.legacyStatus, self.legacyMessage) = (legacyStatus, legacyMessage)
        (self.code, self.status, self.reason, self.quotaLimit) = (code, status, reason, quotaLimit)
    }

    static let keyInvalid = ProviderError(
        "unauthorized", hp: 2000, "REQUEST_DENIED", message: "The provided API key is invalid.", 400,
        "INVALID_ARGUMENT",
        reason: "API_KEY_INVALID")
    static let keyMissing = ProviderError(
        "key-missing", hp: 3000, "REQUEST_DENIED", message: "You must use an API key to authenticate each request.",
        403,
        "PERMISSION_DENIED")
    static let denied = ProviderError(
        "permission_denied", hp: 2000, "REQUEST_DENIED", message: "This API project is not authorized to use this API.",
        403,
        "PERMISSION_DENIED", reason: "API_KEY_SERVICE_BLOCKED")
    static let invalid = ProviderError("invalid", hp: 3000, "INVALID_REQUEST", 400, "INVALID_ARGUMENT")
    static let notFound = ProviderError("not-found", hp: 3000, "NOT_FOUND", 404, "NOT_FOUND")
    static let server = ProviderError("server-error", hp: 1000, "UNKNOWN_ERROR", 500, "INTERNAL")
    static let rateLimited = ProviderError(
        "rate-limited", hp: 0, "OVER_QUERY_LIMIT", message: "You have exceeded your rate-limit for this API.", 429,
        "RESOURCE_EXHAUSTED", reason: "RATE_LIMIT_EXCEEDED", quotaLimit: "SearchNearbyRequestPerMinutePerProject")
    static let rateLimitedForToday = ProviderError(
        "rate-limited-day", hp: 0, "OVER_QUERY_LIMIT",
        message: "You have exceeded your daily request quota for this API.", 429,
        "RESOURCE_EXHAUSTED", reason: "RATE_LIMIT_EXCEEDED", quotaLimit: "SearchNearbyRequestPerDayPerProject")

    private static func forbidden(_ reason: String) -> ProviderError {
        ProviderError(
            reason.lowercased(), hp: 2000, "REQUEST_DENIED",
            message: "Requests of this kind are blocked for this API key.", 403,
            "PERMISSION_DENIED", reason: reason)
    }

    private static func bare(_ name: String, hp: Int, _ legacy: String, _ code: Int) -> ProviderError {
        ProviderError(name.lowercased(), hp: hp, legacy, code, name)
    }

    /// By spelling. A spelling of one provider means the nearest thing at the others.
    static let all: [String: ProviderError] = {
        var list = [
            keyInvalid, keyMissing, denied, invalid, notFound, server, rateLimited, rateLimitedForToday,
            ProviderError(
                "over_daily_limit", hp: 0, "OVER_DAILY_LIMIT",
                message: "You have exceeded your daily request quota for this API.",
                429, "RESOURCE_EXHAUSTED", reason: "RATE_LIMIT_EXCEEDED", quotaLimit: "ApiCallsPerProjectPerDay"),
            ProviderError(
                "legacy-off", hp: 2000, "REQUEST_DENIED",
                message: "You're calling a legacy API, which is not enabled for your project.", 403,
                "PERMISSION_DENIED",
                reason: "SERVICE_DISABLED"),
            ProviderError(
                "credentials_missing", hp: 2000, "REQUEST_DENIED", message: "The provided API key is invalid.", 401,
                "UNAUTHENTICATED", reason: "CREDENTIALS_MISSING"),
            ProviderError(
                "access_token_expired", hp: 2000, "REQUEST_DENIED", message: "The provided API key is expired.", 401,
                "UNAUTHENTICATED", reason: "ACCESS_TOKEN_EXPIRED"),
            ProviderError("unauthenticated", hp: 2000, "REQUEST_DENIED", 401, "UNAUTHENTICATED"),
            ProviderError("unknown_status", hp: 9999, "SOMETHING_NEW", 418, "SOMETHING_NEW"),
            ProviderError("zero_results", hp: 3000, "ZERO_RESULTS", 404, "NOT_FOUND"),
            bare("FAILED_PRECONDITION", hp: 3000, "INVALID_REQUEST", 400),
            bare("OUT_OF_RANGE", hp: 3000, "INVALID_REQUEST", 400), bare("ABORTED", hp: 1000, "UNKNOWN_ERROR", 409),
            bare("ALREADY_EXISTS", hp: 1000, "UNKNOWN_ERROR", 409), bare("CANCELLED", hp: 1000, "UNKNOWN_ERROR", 499),
            bare("UNKNOWN", hp: 1000, "UNKNOWN_ERROR", 500), bare("DATA_LOSS", hp: 1000, "UNKNOWN_ERROR", 500),
            bare("UNIMPLEMENTED", hp: 1000, "UNKNOWN_ERROR", 501), bare("UNAVAILABLE", hp: 1000, "UNKNOWN_ERROR", 503),
            bare("DEADLINE_EXCEEDED", hp: 1000, "UNKNOWN_ERROR", 504),
        ]
        list += [
            "SERVICE_DISABLED", "BILLING_DISABLED", "API_KEY_SERVICE_BLOCKED", "API_KEY_HTTP_REFERRER_BLOCKED",
            "API_KEY_IP_ADDRESS_BLOCKED", "API_KEY_ANDROID_APP_BLOCKED", "API_KEY_IOS_APP_BLOCKED",
            "CONSUMER_SUSPENDED", "CONSUMER_INVALID",
        ].map(forbidden)
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
