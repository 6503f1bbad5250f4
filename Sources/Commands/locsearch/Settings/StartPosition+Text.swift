import EventContract
import Kafka

/// The text form of the position at which a group begins.
extension StartPosition {
    /// Parses `earliest`, `latest` or an RFC 3339 time.
    /// - Returns: `nil` if the text is none of them.
    init?(text: String) {
        switch text {
        case "earliest": self = .earliest
        case "latest": self = .latest
        default:
            guard let time = EventTime(rfc3339: Array(text.utf8)) else { return nil }
            self = .time(milliseconds: time.milliseconds)
        }
    }

    /// The text from which `init(text:)` restores the position.
    var text: String {
        switch self {
        case .earliest: "earliest"
        case .latest: "latest"
        case .time(let milliseconds): EventTime(milliseconds: milliseconds).description
        }
    }
}
