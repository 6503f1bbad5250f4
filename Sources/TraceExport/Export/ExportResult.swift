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
                reason: "it answers \(response.status)",
                retryAfter: response.retryAfter.flatMap { Double($0) }.map { .seconds(min(max($0, 0), 60)) })
        default: self = .refused(reason: "it answers \(response.status)")
        }
    }

    init(_ error: HTTPError) {
        switch error.kind {
        // Spans that are too many or an address that is wrong stay so.
        case .invalidRequest, .tooLarge: self = .refused(reason: error.description)
        default: self = .unavailable(reason: error.description, retryAfter: nil)
        }
    }
}
