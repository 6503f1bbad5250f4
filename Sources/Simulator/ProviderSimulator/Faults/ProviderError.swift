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
    static let legacyOff = ProviderError(
        "legacy-off", hotpepper: 2000, legacy: "REQUEST_DENIED",
        message: "You're calling a legacy API, which is not enabled for your project.", code: 403,
        status: "PERMISSION_DENIED", reason: "SERVICE_DISABLED")
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

    /// The errors by name. A name from one API stands for the nearest error in the others.
    static let all: [String: ProviderError] = {
        let unavailable = ProviderError(
            "unavailable", hotpepper: 1000, legacy: "UNKNOWN_ERROR", code: 503, status: "UNAVAILABLE")
        let unauthenticated = ProviderError(
            "unauthenticated", hotpepper: 2000, legacy: "REQUEST_DENIED", code: 401, status: "UNAUTHENTICATED")
        let unknown = ProviderError(
            "unknown_status", hotpepper: 9999, legacy: "SOMETHING_NEW", code: 418, status: "SOMETHING_NEW")
        let list = [
            keyInvalid, keyMissing, denied, legacyOff, unauthenticated, invalid, notFound, server, unavailable,
            rateLimited, rateLimitedForToday, unknown,
        ]

        // bounded: the names in the list above
        var table = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0) })
        let synonyms: [(String, ProviderError)] = [
            ("1000", server), ("unknown_error", server), ("internal", server), ("2000", keyInvalid),
            ("request_denied", keyInvalid), ("3000", invalid), ("invalid_request", invalid),
            ("invalid_argument", invalid), ("not_found", notFound), ("over_query_limit", rateLimited),
            ("resource_exhausted", rateLimited), ("over_daily_limit", rateLimitedForToday),
        ]
        for (name, error) in synonyms { table[name] = error }
        return table
    }()
}
