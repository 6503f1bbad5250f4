import Basics
import HTTPTransport

/// The result of one export.
enum ExportResult {
    /// The collector accepted the spans.
    case taken
    /// The collector will never accept them.
    case refused(reason: String)
    /// The collector may accept them later.
    case unavailable(reason: String, retryAfter: Duration?)

    /// Interprets a collector's response according to the OTLP specification ("OTLP/HTTP Response").
    init(_ response: HTTPResponse) {
        switch response.status {
        case 200..<300: self = .taken
        case 429, 502, 503, 504:
            self = .unavailable(
                reason: "HTTP status \(response.status)", retryAfter: response.retryAfter.flatMap(Self.pause))
        default: self = .refused(reason: "HTTP status \(response.status)")
        }
    }

    /// Returns the waiting time from `Retry-After` in seconds, at most a minute; `nil` if the text is not such a time.
    private static func pause(_ retryAfter: String) -> Duration? {
        // This condition is also false for "nan".
        guard let seconds = Double(retryAfter), seconds >= 0 else { return nil }
        return .seconds(saturating: min(seconds, 60))
    }

    init(_ error: HTTPError) {
        switch error.kind {
        // Too many spans or a wrong address cannot be cured by a retry.
        case .invalidRequest, .tooLarge: self = .refused(reason: error.description)
        default: self = .unavailable(reason: error.description, retryAfter: nil)
        }
    }
}
