import Basics
import HTTPTransport
import JSON
import LocationSearch

/// Reads an error of Google's APIs and puts it in the contract's terms. The `reason` of ErrorInfo decides first, then
/// `status`, then the HTTP code. The message never does, except that it tells a bad place id from other bad parameters.
struct GooglePlacesFailure {
    private var code: Int?
    private var status: String?
    private var reason: String?
    private var quotaLimit: String?
    private var retryDelay: Duration?
    private var speaksOfPlaceID = false

    /// Returns the error that an answer tells.
    /// - Parameter isForPlace: true for details and photo, where a bad id means `not-found`.
    static func error(from response: HTTPResponse, isForPlace: Bool) -> SearchError {
        var failure = GooglePlacesFailure()
        if (try? failure.read(response.body.span)) == nil { failure = GooglePlacesFailure() }

        // If an error comes with status 200 after all, its body knows the right one.
        let status = response.status == 200 ? failure.code ?? 200 : response.status
        var plain = SearchError(httpStatus: status, of: response, from: .googlePlaces)
        plain.httpStatus = response.status
        plain.providerStatus = SearchError.name(failure.status)

        if failure.status == nil, failure.reason == nil, status == 404, isForPlace { return failure.notFound(response) }
        return failure.byReason(response, plain: plain)
            ?? failure.byStatus(response, plain: plain, isForPlace: isForPlace)
    }

    private func notFound(_ response: HTTPResponse) -> SearchError {
        make(.notFound, "google-places knows no such place; its id may be old: search again", for: response)
    }

    private func make(_ code: SearchError.Code, _ message: String, for response: HTTPResponse) -> SearchError {
        SearchError(code, message, httpStatus: response.status, providerStatus: SearchError.name(status))
    }

    private func refusedKey(_ response: HTTPResponse) -> SearchError {
        make(.unauthorized, "google-places refuses our API key; check googlePlaces.apiKey", for: response)
    }

    private func blockedKey(_ response: HTTPResponse) -> SearchError {
        make(
            .unauthorized, "our API key may not be used for google-places; allow the Places API (New) for it",
            for: response)
    }

    /// Returns the error for the reason; `nil` when the reason does not tell, as most errors have none.
    private func byReason(_ response: HTTPResponse, plain: SearchError) -> SearchError? {
        switch reason {
        case "API_KEY_INVALID", "CREDENTIALS_MISSING", "ACCESS_TOKEN_EXPIRED": refusedKey(response)
        case "BILLING_DISABLED", "CONSUMER_SUSPENDED", "CONSUMER_INVALID":
            make(.unauthorized, "the project of our API key has no billing or is suspended", for: response)
        case "SERVICE_DISABLED", "API_KEY_SERVICE_BLOCKED", "API_KEY_HTTP_REFERRER_BLOCKED",
            "API_KEY_IP_ADDRESS_BLOCKED", "API_KEY_ANDROID_APP_BLOCKED", "API_KEY_IOS_APP_BLOCKED":
            blockedKey(response)
        case "RATE_LIMIT_EXCEEDED", "RESOURCE_QUOTA_EXCEEDED": rateLimited(response, plain: plain)
        default: nil
        }
    }

    private func byStatus(_ response: HTTPResponse, plain: SearchError, isForPlace: Bool) -> SearchError {
        switch status {
        case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE":
            if isForPlace, speaksOfPlaceID { return notFound(response) }
            return make(.invalidRequest, "google-places refused a parameter of the request", for: response)
        case "UNAUTHENTICATED":
            return refusedKey(response)
        case "PERMISSION_DENIED": return blockedKey(response)
        case "NOT_FOUND": return isForPlace ? notFound(response) : plain
        case "RESOURCE_EXHAUSTED": return rateLimited(response, plain: plain)
        case "UNKNOWN", "INTERNAL", "DATA_LOSS", "UNAVAILABLE", "DEADLINE_EXCEEDED":
            var error = make(.upstreamUnavailable, "google-places is not available; try again later", for: response)
            error.retryAfter = retryDelay ?? plain.retryAfter
            return error
        default: return plain
        }
    }

    private func rateLimited(_ response: HTTPResponse, plain: SearchError) -> SearchError {
        let isDaily = quotaLimit?.contains("PerDay") ?? false
        var error = make(
            .rateLimited,
            isDaily ? "the daily quota of google-places is used up" : "google-places limits how often we may ask",
            for: response)
        error.retryAfter = retryDelay ?? plain.retryAfter
        if isDaily {
            error.allowsAttempt = false
            // Quota days end at midnight in California, but an operator may raise the quota before, so an hour is enough.
            error.retryAfter = .seconds(3600)
        }
        return error
    }

    // MARK: - Reading

    private mutating func read(_ body: Span<UInt8>) throws(JSONError) {
        var reader = JSONReader(body)
        if try reader.kind() == .array {
            // Some front ends wrap the error in an array.
            if try reader.enterArray() { while try reader.nextElement() { try readWrapper(&reader) } }
        } else {
            try readWrapper(&reader)
        }
        try reader.finish()
    }

    private mutating func readWrapper(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            if "error" ~= key { try readError(&reader) } else { try reader.skip() }
        }
    }

    private mutating func readError(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            switch key {
            case "code": code = try reader.lenientInt()
            case "status": status = try reader.wanted()
            case "message":
                let message = try reader.wanted()?.lowercased() ?? ""
                speaksOfPlaceID =
                    message.contains("place id") || message.contains("placeid") || message.contains("place_id")
            case "details": try readDetails(&reader)
            default: try reader.skip()
            }
        }
    }

    private mutating func readDetails(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterArray() else { return }
        while try reader.nextElement() {
            guard try reader.enterObject() else { continue }
            while let key = try reader.nextKey() {
                switch key {
                case "reason": reason = try reader.wanted() ?? reason
                case "metadata": quotaLimit = try reader.wantedMember("quota_limit") ?? quotaLimit
                // RetryInfo has a duration as protobuf writes it, such as "17s" or "0.5s".
                case "retryDelay":
                    if let text = try reader.wanted(), text.hasSuffix("s"), let seconds = Double(text.dropLast()),
                        seconds > 0
                    {
                        retryDelay = .seconds(saturating: min(seconds, 3600))
                    }
                default: try reader.skip()
                }
            }
        }
    }
}
