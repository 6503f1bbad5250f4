internal import JSON
internal import NIOCore

/// An error of Google Places (New) with its details.
struct GooglePlacesError {
    let code: Int
    let status: String
    let message: String
    var field: String?
    var reason: String?
    var quotaLimit: String?
    var retrySeconds: Int?

    init(code: Int, status: String, message: String, field: String?) {
        (self.code, self.status, self.message, self.field) = (code, status, message, field)
    }

    init(_ error: ProviderError, retryAfter: Int? = nil) {
        (code, status, reason, quotaLimit) = (error.code, error.status, error.reason, error.quotaLimit)
        retrySeconds = retryAfter
        message =
            switch error.status {
            case "RESOURCE_EXHAUSTED":
                "Quota exceeded for quota metric 'SearchNearbyRequest' and limit '\(error.quotaLimit ?? "")' of service "
                    + "'places.googleapis.com' for consumer 'project_number:123456789012'."
            case "NOT_FOUND": "The requested place was not found."
            case "INVALID_ARGUMENT" where error.reason == "API_KEY_INVALID":
                "API key not valid. Please pass a valid API key."
            case "PERMISSION_DENIED" where error.reason == nil:
                "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity."
            case "PERMISSION_DENIED":
                "Requests to this API places.googleapis.com are blocked for project 123456789012."
            default: "The request failed: \(error.status)."
            }
    }

    /// The answer that contains the error.
    var reply: Reply {
        let bytes = JSONWriter.object(capacity: 1024) { json in
            json.object("error") { json in
                json.member("code", code)
                json.member("message", message)
                json.member("status", status)
                if reason != nil || field != nil || retrySeconds != nil {
                    json.array("details") { json in
                        writeReason(to: &json)
                        writeField(to: &json)
                        writeRetry(to: &json)
                    }
                }
            }
        }
        var body = JSONLayout.lay(bytes)
        body.writeStaticString("\n")
        return Reply(Reply.json, body: body, status: code, outcome: status)
    }

    private func writeReason(to json: inout JSONWriter) {
        guard let reason else { return }

        json.object { json in
            json.member("@type", "type.googleapis.com/google.rpc.ErrorInfo")
            json.member("reason", reason)
            json.member("domain", "googleapis.com")
            json.object("metadata") { json in
                json.member("service", "places.googleapis.com")
                json.member("consumer", "projects/123456789012")
                if let quotaLimit {
                    json.member("quota_metric", "places.googleapis.com/SearchNearbyRequest")
                    json.member("quota_limit", quotaLimit)
                    json.member("quota_limit_value", "600")
                    json.member("quota_location", "global")
                }
            }
        }
        guard reason == "API_KEY_INVALID" else { return }

        json.object { json in
            json.member("@type", "type.googleapis.com/google.rpc.LocalizedMessage")
            json.member("locale", "en-US")
            json.member("message", message)
        }
    }

    private func writeField(to json: inout JSONWriter) {
        guard let field else { return }
        json.object { json in
            json.member("@type", "type.googleapis.com/google.rpc.BadRequest")
            json.objects("fieldViolations", of: [field]) { field, json in
                json.member("field", field)
                json.member("description", message)
            }
        }
    }

    private func writeRetry(to json: inout JSONWriter) {
        guard let retrySeconds else { return }
        json.object { json in
            json.member("@type", "type.googleapis.com/google.rpc.RetryInfo")
            json.member("retryDelay", "\(retrySeconds)s")
        }
    }
}

/// The reason why Google Places (New) rejects a request with HTTP 400, INVALID_ARGUMENT.
struct InvalidArgument: Error {
    let message: String
    /// The invalid member; `nil` if the whole request is invalid.
    var field: String?

    static func unknownMember(_ name: String) -> InvalidArgument {
        InvalidArgument(
            message: "Invalid JSON payload received. Unknown name \"\(name.prefix(100))\": Cannot find field.",
            field: String(name.prefix(100)))
    }

    static func wrongType(of name: String, expected type: String) -> InvalidArgument {
        InvalidArgument(message: "Invalid value at '\(name)' (\(type)).", field: name)
    }

    static func unsupportedType(_ type: String, field: String) -> InvalidArgument {
        InvalidArgument(message: "Unsupported types: \(type.prefix(100)).", field: field)
    }
}
