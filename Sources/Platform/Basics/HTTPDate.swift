/// HTTP's date format, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). The two obsolete formats are not supported.
public enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1970-01-01 was a Thursday
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the seconds since the Unix epoch; `nil` if the text is not such a date from 1970 on. The weekday is not
    /// checked. A leap second counts as the second after it.
    public static func seconds(of text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1970...9999).contains(year),
            let date = CivilDate(year: year, month: Int64(month).saturatingAdding(1), day: day)
        else { return nil }

        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        // bounded: the year has four digits, and the parts of the clock were checked
        return date.daysSinceEpoch * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    /// Formats a time as HTTP's date.
    /// - Parameter seconds: Seconds since the Unix epoch, within the years 0 to 9999.
    public static func text(_ seconds: Int64) -> String {
        let (days, time) = seconds.flooredQuotientAndRemainder(dividingBy: 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        let weekday = weekdays[Int(days.flooredQuotientAndRemainder(dividingBy: 7).remainder)]
        let clock = "\(padded(time / 3600, 2)):\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2))"
        // bounded: a date has one of twelve months
        return "\(weekday), \(padded(date.day, 2)) \(months[Int(date.month) - 1]) \(padded(date.year, 4)) \(clock) GMT"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        let zeros = String(repeating: "0", count: max(0, digits - text.count))
        return "\(zeros)\(text)"
    }
}
