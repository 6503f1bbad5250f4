extension PlaceText {
    private static let weekdays = [
        ("Monday", "月"), ("Tuesday", "火"), ("Wednesday", "水"), ("Thursday", "木"), ("Friday", "金"),
        ("Saturday", "土"), ("Sunday", "日"),
    ]

    /// Returns the usual opening hours, one line for each weekday, with the narrow blanks of real answers.
    func openingHours(_ language: PlaceLanguage) -> [String] {
        var numbers = place.numbers(.week)
        let (opens, length, dayOff) = (7 + numbers.next(below: 11), 4 + numbers.next(below: 8), numbers.next(below: 12))
        let closes = (opens + length) % 24
        func english(_ hour: Int) -> String {
            "\(hour % 12 == 0 ? 12 : hour % 12):00\u{202F}\(hour < 12 ? "AM" : "PM")"
        }
        let times =
            language == .japanese
            ? "\(opens)時00分～\(closes)時00分" : english(opens) + "\u{2009}–\u{2009}" + english(closes)
        return Self.weekdays.enumerated().map { day, name in
            language == .japanese
                ? "\(name.1)曜日: \(day == dayOff ? "定休日" : times)" : "\(name.0): \(day == dayOff ? "Closed" : times)"
        }
    }
}
