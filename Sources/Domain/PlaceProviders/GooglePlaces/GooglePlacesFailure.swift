import Basics
import HTTPTransport
import JSON
import LocationSearch

/// Reads an error of Google's APIs. The `reason` decides first, then `status`, then the HTTP code. The message is used only
/// to distinguish an unknown place id from other bad parameters.
struct GooglePlacesFailure {
    private var code: Int?
    private var status: String?
    private var reason: String?
    private var quotaLimit: String?
    private var retryDelay: Duration?
    private var speaksOfPlaceID = false

    /// Returns the error in an answer.
    /// - Parameter isForPlace: true for details and photo, where an unknown id means `not-found`.
    static func error(from response: HTTPResponse, isForPlace: Bool) -> SearchError {
        let failure = try? response.readBody { body throws(JSONError) in
            var failure = GooglePlacesFailure()
            try failure.read(body.span)
            return failure
        }
        return (failure ?? GooglePlacesFailure()).error(in: response, isForPlace: isForPlace)
    }

    private func error(in response: HTTPResponse, isForPlace: Bool) -> SearchError {
        let name = SearchError.name(status)
        if let refusal = refusal(httpStatus: response.status, isForPlace: isForPlace) {
            var error = refusal.error(of: .googlePlaces, in: response, providerStatus: name)
            if error.allowsAttempt, error.code.isRetryable { error.retryAfter = retryDelay ?? error.retryAfter }
            return error
        }

        // If an error comes with status 200, its body has the right one.
        let status = response.status == 200 ? code ?? 200 : response.status
        guard status != 200 else { return .badResponse("is an error without a status", from: .googlePlaces) }
        var plain = SearchError(httpStatus: status, of: response, from: .googlePlaces)
        plain.httpStatus = response.status
        plain.providerStatus = name
        return plain
    }

    /// Returns the meaning of the error; `nil` if only the HTTP status has one.
    private func refusal(httpStatus: Int, isForPlace: Bool) -> ProviderRefusal? {
        if status == nil, reason == nil { return httpStatus == 404 && isForPlace ? .unknownPlace : nil }
        let isDaily = quotaLimit?.contains("PerDay") ?? false
        return switch ProviderRefusal.named(reason, status, isDaily: isDaily) {
        case .badParameter where isForPlace && speaksOfPlaceID: .unknownPlace
        case .unknownPlace where !isForPlace: nil
        case let refusal: refusal
        }
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
            case "errors":
                // The older format. If both are present, `details` counts.
                let known = reason
                try readDetails(&reader)
                reason = known ?? reason
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
                // RetryInfo has a duration in protobuf's format, such as "17s" or "0.5s".
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
