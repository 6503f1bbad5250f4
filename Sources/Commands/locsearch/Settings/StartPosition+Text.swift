import EventContract
import Kafka

/// The position at which a group begins, as users write it.
extension StartPosition {
    /// Reads `earliest`, `latest` or an RFC 3339 time.
    /// - Returns: `nil` when the text is none of them.
    init?(text: String) {
        switch text {
        case "earliest": self = .earliest
        case "latest": self = .latest
        default:
            guard let time = EventTime(rfc3339: Array(text.utf8)) else { return nil }
            self = .time(milliseconds: time.milliseconds)
        }
    }

    /// The text that reads back as the same position.
    var text: String {
        switch self {
        case .earliest: "earliest"
        case .latest: "latest"
        case .time(let milliseconds): EventTime(milliseconds: milliseconds).description
        }
    }
}
