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
        case .date(let ahead): HTTPDate.text(WallClock.seconds() + ahead)
        }
    }

    var seconds: Int {
        switch self {
        case .seconds(let seconds), .date(let seconds): seconds
        }
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
enum HTTPDate {
    static func text(_ unixSeconds: Int) -> String {
        let day = Int((Double(unixSeconds) / 86_400).rounded(.down))
        let rest = unixSeconds - day * 86_400
        let (year, month, date) = civil(day)
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1 January 1970 was a Thursday
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let weekday = names[(day % 7 + 7) % 7]
        let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekday), \(two(date)) \(months[month - 1]) \(year) \(time) GMT"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Days since 1970 -> year, month 1...12, day 1...31. Years are counted from March, so that leap days come last.
    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468  // from 1 March of the year 0
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let date = dayOfYear - (153 * month + 2) / 5 + 1
        let isNextYear = month >= 10
        return (yearOfEra + era * 400 + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3, date)
    }
}
