internal import JSON

/// Hot Pepper's boolean conditions. The order of the cases is the order of the bits in `SimulatedPlace.features`.
enum HotpepperFlag: String, CaseIterable {
    // About two thirds of the shops fulfil each of the first eight conditions, and a quarter each of the others.
    case wifi, course, privateRoom = "private_room", card, nonSmoking = "non_smoking", lunch, child, charter
    case wedding, freeDrink = "free_drink", freeFood = "free_food", horigotatsu, tatami, cocktail, shochu, sake, wine,
        ktai, parking, barrierFree = "barrier_free"
    case sommelier, nightView = "night_view", openAir = "open_air", show, equipment, karaoke, band, tv, midnight,
        midnightMeal = "midnight_meal", english, pet

    /// The bit of each condition in `SimulatedPlace.features`, by name.
    static let bits = Dictionary(
        // bounded: the cases have different names
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element.rawValue, 1 << $0.offset as UInt32) })
}

/// Writes Hot Pepper's lists of codes ("masters").
struct HotpepperMasters {
    let query: QueryParameters

    typealias Entry = (code: String, name: String)

    static let budgets: [Entry] = [
        ("B009", "～500円"), ("B010", "501～1000円"), ("B011", "1001～1500円"), ("B001", "1501～2000円"),
        ("B002", "2001～3000円"), ("B003", "3001～4000円"), ("B008", "4001～5000円"), ("B004", "5001～7000円"),
        ("B005", "7001～10000円"), ("B006", "10001～15000円"), ("B012", "15001～20000円"),
    ]
    static let creditCards: [Entry] = [
        ("c01", "VISA"), ("c02", "マスター"), ("c03", "アメックス"), ("c04", "DINERS"), ("c05", "JCB"),
    ]
    static let specials: [(code: String, name: String, category: String)] = [
        ("LS0001", "忘年会におすすめ", "SPA1"), ("LS0002", "女子会特集", "SPA1"), ("LS0003", "夜景の見えるお店", "SPB1"),
        ("LS0004", "一人でも気軽に", "SPB1"), ("LS0005", "テラス席のあるお店", "SPC1"),
    ]
    static let specialCategories: [Entry] = [("SPA1", "季節の特集"), ("SPB1", "シーン別特集"), ("SPC1", "空間で選ぶ")]

    /// Returns the list with this name, filtered by the query; `nil` if there is no such list.
    /// - Parameter name: the name from the path.
    func render(_ name: String) -> [UInt8]? {
        switch name {
        case "genre":
            return list(name, of: Category.all.compactMap(\.genre).map { Line(own: $0) }, maxCodes: 2)
        case "budget": return list(name, of: Self.budgets.map { Line(own: $0) }, maxCodes: 20)
        case "credit_card": return list(name, of: Self.creditCards.map { Line(own: $0) }, maxCodes: 20)
        case "special_category": return list(name, of: Self.specialCategories.map { Line(own: $0) }, maxCodes: 20)
        case "special":
            let lines = Self.specials.map { special in
                let parents = Self.specialCategories.filter { $0.code == special.category }
                return Line(
                    own: (special.code, special.name), parents: parents.map { (name: "special_category", entry: $0) })
            }
            return list(name, of: lines, maxCodes: 20)
        case "large_service_area", "service_area", "large_area", "middle_area", "small_area":
            let isSmall = name == "middle_area" || name == "small_area"
            return list(name, of: areas(ofLevel: name), maxCodes: isSmall ? 5 : 3)
        default: return nil
        }
    }

    /// One line of a list: a code, and the codes of its parents.
    private struct Line {
        var own: Entry
        var parents: [(name: StaticString, entry: Entry)] = []
    }

    /// Returns the areas of one level, without duplicates.
    private func areas(ofLevel level: String) -> [Line] {
        var lines: [Line] = []
        for (index, town) in Town.all.enumerated() where index != Town.elsewhere {
            // Sorted from the smallest level up, so that the parents of a level come after it.
            let levels: [(name: StaticString, area: Town.Area)] = [
                ("middle_area", town.middle), ("large_area", town.large), ("service_area", town.service),
                ("large_service_area", town.largeService),
            ]
            let entries = levels.map { (name: $0.name, entry: ($0.area.code, $0.area.name) as Entry) }

            if let own = entries.firstIndex(where: { $0.name.description == level }) {
                // bounded: an index of a list
                lines.append(Line(own: entries[own].entry, parents: Array(entries[(own + 1)...])))
                continue
            }
            for district in Lexicon.districts.indices {
                let small = Town.smallArea(town: index, district: district)
                lines.append(Line(own: (small.code, small.name), parents: entries))
            }
        }

        var seen: Set<String> = []
        return lines.filter { seen.insert($0.own.code).inserted }
    }

    /// Filters a list by the query, and writes the requested page.
    /// - Parameter maxCodes: the maximum number of codes in one filter. Additional ones are ignored.
    private func list(_ name: String, of all: [Line], maxCodes: Int) -> [UInt8] {
        let isCalledCode = ["genre", "budget", "credit_card"].contains(name)
        let codes = query.list(isCalledCode ? "code" : name, limit: maxCodes)
        var lines = all
        if !codes.isEmpty { lines = lines.filter { line in codes.contains { $0 == line.own.code } } }

        for parent in ["large_service_area", "service_area", "large_area", "middle_area"] where parent != name {
            let wanted = query.list(parent, limit: maxCodes)
            guard !wanted.isEmpty else { continue }
            lines = lines.filter { line in
                line.parents.contains { upper in
                    upper.name.description == parent && wanted.contains { $0 == upper.entry.code }
                }
            }
        }

        if let keyword = query["keyword"], !keyword.isEmpty { lines = lines.filter { $0.own.name.contains(keyword) } }

        let start = max(Int(query["start"] ?? "") ?? 1, 1)
        let count = max(Int(query["count"] ?? "") ?? 1000, 0)
        let skipped = min(start, lines.count + 1) - 1  // bounded: 1 or more before the subtraction
        let page = Array(lines.dropFirst(skipped).prefix(count))
        return write(page, as: name, start: start, total: lines.count)
    }

    /// Writes a list. The counts come last, as in recordings of these lists.
    private func write(_ lines: [Line], as name: String, start: Int, total: Int) -> [UInt8] {
        JSONWriter.object(capacity: 8192) { json in
            json.object("results") { json in
                json.member("api_version", "1.20")
                json.key(name)
                json.beginArray()
                for line in lines {
                    json.object { json in
                        json.member("code", line.own.code)
                        json.member("name", line.own.name)
                        for parent in line.parents {
                            json.key(parent.name)
                            json.codeAndName(parent.entry)
                        }
                    }
                }
                json.endArray()
                json.member("results_available", total)
                json.member("results_returned", String(lines.count))
                json.member("results_start", start)
            }
        }
    }
}

extension JSONWriter {
    mutating func codeAndName(_ entry: (code: String, name: String)) {
        beginObject()
        member("code", entry.code)
        member("name", entry.name)
        endObject()
    }
}

extension SimulatedPlace {
    /// 0 for a shop with a coupon, 1 for a shop without.
    var couponFlag: Int { Int(hash >> 11 & 1) }

    var creditCards: [HotpepperMasters.Entry] {
        guard has(.card) else { return [] }
        // bounded: indices of a list
        return HotpepperMasters.creditCards.enumerated().filter { hash >> (30 + $0.offset) & 1 == 0 }.map(\.element)
    }

    var specials: [(code: String, name: String, category: String)] {
        // bounded: indices of a list
        HotpepperMasters.specials.enumerated().filter { hash >> (36 + $0.offset * 2) & 3 == 0 }.map(\.element)
    }

    func has(_ flag: HotpepperFlag) -> Bool {
        guard let index = HotpepperFlag.allCases.firstIndex(of: flag) else { return false }
        return features >> index & 1 == 1
    }
}
