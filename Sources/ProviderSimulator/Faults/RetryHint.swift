import Basics

/// When to come back, as an answer says it.
enum RetryHint: Hashable, Sendable {
    case seconds(Int)
    /// A `Retry-After` with the HTTP date so many seconds ahead.
    case date(secondsAhead: Int)

    /// `2` or `date2`.
    init?(_ text: some StringProtocol) {
        if text.hasPrefix("date") {
            guard let seconds = Int(text.dropFirst(4)), (-86_400...86_400).contains(seconds) else { return nil }
            self = .date(secondsAhead: seconds)
        } else {
            guard let seconds = Int(text), (-86_400...86_400).contains(seconds) else { return nil }
            self = .seconds(seconds)
        }
    }

    /// The value of a `Retry-After` header.
    var header: String {
        switch self {
        case .seconds(let seconds): String(seconds)
        case .date(let ahead): HTTPDate.text(Int64(WallClock.seconds() + ahead))
        }
    }

    var seconds: Int {
        switch self {
        case .seconds(let seconds), .date(let seconds): seconds
        }
    }
}
