/// The opening hours of a place, for the details of both of Google's APIs.
struct OpeningHours {
    struct Point {
        /// 0 is Sunday.
        let day: Int
        let hour: Int
        let minute: Int
        /// The time in the format of Google's older API: "hhmm".
        var compact: String { Self.two(hour) + Self.two(minute) }
        private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
    }
    struct Period {
        let open: Point
        /// `nil` for a place that never closes.
        let close: Point?
    }

    let periods: [Period]
    let weekdays: [String]
    let isAlwaysOpen: Bool

    private static let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    init(_ place: SimulatedPlace) {
        var numbers = place.numbers(.hours)
        _ = numbers.next()

        // Convenience stores never close, and neither do a few other places.
        isAlwaysOpen = place.kind.primaryType == "convenience_store" || numbers.percent(4)
        if isAlwaysOpen {
            periods = [Period(open: Point(day: 0, hour: 0, minute: 0), close: nil)]
            weekdays = Self.names.map { "\($0): Open 24 hours" }
            return
        }

        let (closedDay, opens, length) = (
            numbers.next(below: 9), 9 + numbers.next(below: 8), 6 + numbers.next(below: 6)
        )
        var (periods, lines) = ([Period](), [String]())
        for day in 0..<7 where day != closedDay {
            let closes = opens + length
            periods.append(
                Period(
                    open: Point(day: day, hour: opens, minute: 30),
                    close: Point(day: closes >= 24 ? (day + 1) % 7 : day, hour: closes % 24, minute: 0)))
        }

        for (index, name) in Self.names.enumerated() {
            let day = (index + 1) % 7
            lines.append(
                day == closedDay
                    ? "\(name): Closed"
                    : "\(name): \(opens):30\u{202F}\u{2009}–\u{2009}\((opens + length) % 24):00")
        }

        (self.periods, weekdays) = (periods, lines)
    }
}

/// An open location code of ten digits, which is accurate to 1/8000 of a degree.
struct PlusCode {
    let global: String
    /// The code without its first four digits.
    var local: Substring { global.dropFirst(4) }

    private static let digits = Array("23456789CFGHJMPQRVWX")

    init(_ place: SimulatedPlace) {
        var y = Int(place.latitudeE7) + 900_000_000
        var x = Int(place.longitudeE7) + 1_800_000_000
        var code = ""
        for step in [200_000_000, 10_000_000, 500_000, 25_000, 1250] {
            code.append(Self.digits[min(y / step, 19)])
            code.append(Self.digits[min(x / step, 19)])
            (y, x) = (y % step, x % step)
            if code.count == 8 { code += "+" }
        }
        global = code
    }
}
