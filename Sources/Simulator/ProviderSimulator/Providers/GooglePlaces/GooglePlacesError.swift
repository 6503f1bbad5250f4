internal import JSON
internal import NIOCore

/// Writes errors in the format of Google Places (New).
enum GooglePlacesError {
    /// Returns the answer that contains the error.
    /// - Parameter message: `nil`: a general text.
    static func reply(_ error: ProviderError, message: String? = nil, retryAfter: Int? = nil) -> Reply {
        let bytes = JSONWriter.object(capacity: 1024) { json in
            json.object("error") { json in
                json.member("code", error.code)
                json.member("message", message ?? text(of: error))
                json.member("status", error.status)
                if error.reason != nil || retryAfter != nil {
                    json.array("details") { json in
                        if let reason = error.reason { write(reason, quotaLimit: error.quotaLimit, to: &json) }
                        if let retryAfter { write(retryAfter: retryAfter, to: &json) }
                    }
                }
            }
        }
        var body = JSONLayout.lay(bytes)
        body.writeStaticString("\n")
        return Reply(Reply.json, body: body, status: error.code, outcome: error.status)
    }

    private static func text(of error: ProviderError) -> String {
        switch error.reason ?? error.status {
        case "RATE_LIMIT_EXCEEDED":
            "Quota exceeded for quota metric 'SearchNearbyRequest' and limit '\(error.quotaLimit ?? "")' of service "
                + "'places.googleapis.com' for consumer 'project_number:123456789012'."
        case "API_KEY_INVALID": "API key not valid. Please pass a valid API key."
        case "NOT_FOUND": "The requested place was not found."
        case "PERMISSION_DENIED":
            "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity."
        default: "The request failed: \(error.status)."
        }
    }

    private static func write(_ reason: String, quotaLimit: String?, to json: inout JSONWriter) {
        json.object { json in
            json.member("@type", "type.googleapis.com/google.rpc.ErrorInfo")
            json.member("reason", reason)
            json.member("domain", "googleapis.com")
            json.object("metadata") { json in
                json.member("service", "places.googleapis.com")
                json.member("consumer", "projects/123456789012")
                json.member("quota_limit", quotaLimit)
            }
        }
    }

    private static func write(retryAfter: Int, to json: inout JSONWriter) {
        json.object { json in
            json.member("@type", "type.googleapis.com/google.rpc.RetryInfo")
            json.member("retryDelay", "\(retryAfter)s")
        }
    }
}

/// The reason why Google Places (New) rejects a request with HTTP 400, INVALID_ARGUMENT.
struct InvalidArgument: Error {
    let message: String

    init(_ message: String) { self.message = message }

    static func unknownMember(_ name: String) -> InvalidArgument {
        InvalidArgument("Invalid JSON payload received. Unknown name \"\(name.prefix(100))\": Cannot find field.")
    }

    static func wrongType(of name: String, expected type: String) -> InvalidArgument {
        InvalidArgument("Invalid value at '\(name)' (\(type)).")
    }

    static func unsupportedType(_ type: String) -> InvalidArgument {
        InvalidArgument("Unsupported types: \(type.prefix(100)).")
    }
}
