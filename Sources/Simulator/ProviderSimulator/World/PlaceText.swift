internal import JSON

/// The language of an answer. All languages except Japanese are answered in English.
enum PlaceLanguage: UInt32, Sendable {
    case japanese = 0
    case english = 1

    /// - Parameter tag: a BCP 47 tag. Only `ja` and `ja-...` mean Japanese.
    init(_ tag: String?) {
        let isJapanese = tag.map { $0 == "ja" || $0.hasPrefix("ja-") || $0 == "JA" } ?? false
        self = isJapanese ? .japanese : .english
    }
}

/// The texts of a place: names, addresses and numbers. They are the same for every provider.
struct PlaceText {
    let place: SimulatedPlace
    let cell: Cell

    /// The position from which ids are made.
    var position: PlaceIDs.Place { PlaceIDs.Place(cell: cell.id, slot: Int(place.slot)) }

    private var head: Lexicon.Word { Lexicon.heads[Int(place.head)] }
    private var core: Lexicon.Word { Lexicon.cores[Int(place.core)] }
    var town: Town { Town.all[cell.town] }
    var station: Town.Name { town.stations[cell.station] }
    var district: Lexicon.Word { Lexicon.districts[cell.district] }
    var isInJapan: Bool { cell.town != Town.elsewhere }

    // MARK: Names

    private var japaneseName: String {
        if place.kind.isFood { return "\(head.japanese)\(core.japanese) \(station.japanese)店" }
        return "\(core.japanese)\(place.kind.japanese)"
    }

    private var englishName: String {
        place.kind.isFood
            ? [head.english, core.english, place.kind.english].filter { !$0.isEmpty }.joined(separator: " ")
            : "\(core.english) \(place.kind.english)"
    }

    var kana: String {
        "\(head.kana)\(core.kana)　\(place.hash >> 7 & 3 == 0 ? station.japanese : "")てん"
    }

    /// The name in Hot Pepper's answers: sometimes with an emoji, or with a blank at the end.
    var hotpepperName: String {
        var numbers = place.numbers(.name)
        switch numbers.next(below: 100) {
        case 0: return japaneseName + numbers.pick(Lexicon.emoji)
        case 1: return japaneseName + " "
        case 2: return japaneseName.replacing(" ", with: "　")
        default: return japaneseName
        }
    }

    /// Returns the name in Google's answers, and its language. A name without a translation stays in the local
    /// language.
    func googleName(_ language: PlaceLanguage) -> (text: String, language: String) {
        var numbers = place.numbers(.name)
        let oddity = numbers.next(below: 200)
        if oddity == 0 {
            let text = numbers.pick(Lexicon.rightToLeft)
            return (text, text.unicodeScalars.first.map { $0.value < 0x600 } ?? false ? "iw" : "ar")
        }

        let mark = oddity < 4 ? " " + numbers.pick(Lexicon.emoji) : ""
        let isTranslated = numbers.percent(65)
        if isInJapan, language == .japanese || !isTranslated { return (japaneseName + mark, "ja") }
        return (englishName + mark, "en")
    }

    // MARK: Addresses

    private var block: (chome: Int, block: Int, house: Int) {
        var numbers = place.numbers(.area)
        return (1 + numbers.next(below: 6), 1 + numbers.next(below: 30), 1 + numbers.next(below: 20))
    }

    /// The address in Hot Pepper's answers, with half-width and full-width digits mixed, as in real data.
    var hotpepperAddress: String {
        var numbers = place.numbers(.texts)
        let (chome, block, house) = self.block
        let area = town.prefecture.japanese + town.city.japanese + district.japanese
        switch numbers.next(below: 4) {
        case 0: return "\(area)\(Self.wide(chome))－\(Self.wide(block))－\(Self.wide(house))"
        case 1: return "\(area)\(chome)-\(block)-\(house)　\(core.japanese)ビル\(1 + numbers.next(below: 8))Ｆ"
        case 2: return "\(area)\(chome)丁目\(block)番\(house)号 第\(1 + numbers.next(below: 5))ビル　B１F "
        default: return "\(area)\(Self.wide(chome))-\(block)-\(house)"
        }
    }

    var postalCode: String {
        let last = String(cell.district * 7 + 11)
        return town.postal + "-" + String(repeating: "0", count: 4 - last.count) + last
    }

    /// Returns the full address in Google's answers.
    func address(_ language: PlaceLanguage) -> String {
        guard isInJapan else { return "\(block.block) \(district.english) Street, \(town.city.english)" }
        return language == .japanese
            ? "日本、〒\(postalCode) \(town.prefecture.japanese)\(vicinity(.japanese))"
            : "\(vicinity(.english)), \(town.prefecture.english) \(postalCode), Japan"
    }

    /// Returns the address without country and prefecture.
    func vicinity(_ language: PlaceLanguage) -> String {
        let (chome, block, house) = self.block
        guard isInJapan else { return "\(block) \(district.english) Street" }
        return language == .japanese
            ? "\(town.city.japanese)\(district.japanese)\(Self.wide(chome))丁目\(Self.wide(block))−\(Self.wide(house))"
            : "\(chome)-chōme-\(block)-\(house) \(district.english), \(town.city.english)"
    }

    /// Returns a number in full-width digits (U+FF10 to U+FF19).
    static func wide(_ number: Int) -> String {
        String(String.UnicodeScalarView(String(number).unicodeScalars.compactMap { UnicodeScalar($0.value + 0xFEE0) }))
    }

    // MARK: Members of Google's answers

    var businessStatus: String {
        switch place.status {
        case .operational: "OPERATIONAL"
        case .closedForNow: "CLOSED_TEMPORARILY"
        case .closedForGood: "CLOSED_PERMANENTLY"
        }
    }

    /// The address of the place's own page; `nil` for four of ten places.
    var website: String? {
        var numbers = place.numbers(.contact)
        return numbers.percent(60) ? "http://shop\(place.hash % 100_000).example/" : nil
    }

    func mapURL(_ ids: PlaceIDs) -> String { "https://maps.google.com/?cid=\(ids.words(position).1)" }

    // MARK: Numbers

    /// Formats a coordinate in decimal notation, with at most seven decimal places and no trailing zeros.
    static func decimal(e7 value: Int32) -> String {
        let magnitude = value.magnitude
        let (whole, fraction) = magnitude.quotientAndRemainder(dividingBy: 10_000_000)
        var digits = String(fraction)
        digits = String(repeating: "0", count: 7 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        let sign = value < 0 ? "-" : ""
        return digits.isEmpty ? "\(sign)\(whole)" : "\(sign)\(whole).\(digits)"
    }
}

extension JSONWriter {
    /// Writes a place's coordinate as an object with two members of these names.
    /// - Parameter offsetE7: added to both values, in units of 10^-7 degrees.
    mutating func position(
        of place: SimulatedPlace, offsetE7: Int32 = 0, latitude: StaticString, longitude: StaticString
    ) {
        beginObject()
        number(latitude, digits: PlaceText.decimal(e7: place.latitudeE7 &+ offsetE7))
        number(longitude, digits: PlaceText.decimal(e7: place.longitudeE7 &+ offsetE7))
        endObject()
    }

    /// Writes a number from its digits in JSON notation.
    mutating func number(_ name: StaticString, digits: String) {
        key(name)
        value(json: Array(digits.utf8).span)
    }
}

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
