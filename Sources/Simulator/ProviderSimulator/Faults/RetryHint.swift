import Basics

/// The time that a client should wait before it tries again.
enum RetryHint: Hashable, Sendable {
    case seconds(Int)
    /// An HTTP date this many seconds in the future.
    case date(secondsAhead: Int)

    /// Parses `2` or `date2`.
    init?(_ text: some StringProtocol) {
        if text.hasPrefix("date") {
            guard let seconds = Int(text.dropFirst(4)), (-86_400...86_400).contains(seconds) else { return nil }
            self = .date(secondsAhead: seconds)
        } else {
            guard let seconds = Int(text), (-86_400...86_400).contains(seconds) else { return nil }
            self = .seconds(seconds)  // bounded: a case of this type
        }
    }

    /// The value of a `Retry-After` header.
    var header: String {
        switch self {
        case .seconds(let seconds): String(seconds)
        // bounded: a day at most
        case .date(let ahead): HTTPDate.text(WallTime.now().milliseconds / 1000 + Int64(ahead))
        }
    }

    /// The time in seconds.
    var seconds: Int {
        switch self {
        case .seconds(let seconds), .date(let seconds): seconds
        }
    }
}
