import Basics
import HTTPTransport

/// How one export ended.
enum ExportResult {
    /// The collector took the spans, but for so many.
    case taken(rejected: Int)
    /// The collector will never take them.
    case refused(reason: String)
    /// The collector may take them later.
    case unavailable(reason: String, retryAfter: Duration?)

    /// Reads a collector's answer, as the OTLP specification has it ("OTLP/HTTP Response").
    init(_ response: HTTPResponse) {
        switch response.status {
        case 200..<300: self = .taken(rejected: OTLPAnswer(response.body).rejectedSpans)
        case 429, 502, 503, 504:
            self = .unavailable(
                reason: "it answers \(response.status)", retryAfter: response.retryAfter.flatMap(Self.pause))
        default: self = .refused(reason: "it answers \(response.status)")
        }
    }

    /// Returns the time that `Retry-After` asks to wait in seconds, a minute at most; `nil` when the text is no such time.
    private static func pause(_ retryAfter: String) -> Duration? {
        // Written so that "nan" fails too.
        guard let seconds = Double(retryAfter), seconds >= 0 else { return nil }
        return .seconds(saturating: min(seconds, 60))
    }

    init(_ error: HTTPError) {
        switch error.kind {
        // Spans that are too many or an address that is wrong stay so.
        case .invalidRequest, .tooLarge: self = .refused(reason: error.description)
        default: self = .unavailable(reason: error.description, retryAfter: nil)
        }
    }
}
