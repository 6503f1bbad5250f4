internal import JSON

/// Hot Pepper's yes/no conditions, in the order of `SimulatedPlace.features`.
enum HotpepperFlag: String, CaseIterable {
    // Two of three shops have the first eight, a quarter the others.
    case wifi, course, privateRoom = "private_room", card, nonSmoking = "non_smoking", lunch, child, charter
    case wedding, freeDrink = "free_drink", freeFood = "free_food", horigotatsu, tatami, cocktail, shochu, sake, wine,
        ktai, parking, barrierFree = "barrier_free"
    case sommelier, nightView = "night_view", openAir = "open_air", show, equipment, karaoke, band, tv, midnight,
        midnightMeal = "midnight_meal", english, pet

    /// By name.
    static let bits = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element.rawValue, UInt32(1) << UInt32($0.offset)) })
}

/// The lists of codes.
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

    /// - Parameter name: as in the path.
    /// - Returns: `nil`: there is no such list.
    func render(_ name: String) -> [UInt8]? {
        switch name {
        case "genre":
            return list(name, Category.all.compactMap(\.genre).map { entry($0, []) }, codes: 2)
        case "budget": return list(name, Self.budgets.map { entry($0, []) }, codes: 20)
        case "credit_card": return list(name, Self.creditCards.map { entry($0, []) }, codes: 20)
        case "special_category": return list(name, Self.specialCategories.map { entry($0, []) }, codes: 20)
        case "special":
            return list(
                name,
                Self.specials.map { special in
                    let parent = Self.specialCategories.filter { $0.code == special.category }
                    return entry((special.code, special.name), parent.map { ("special_category", $0) })
                }, codes: 20)
        case "large_service_area", "service_area", "large_area", "middle_area", "small_area":
            return list(name, areas(name), codes: name == "middle_area" || name == "small_area" ? 5 : 3)
        default: return nil
        }
    }

    private struct Line {
        let own: Entry
        let parents: [(name: StaticString, entry: Entry)]
    }

    private func entry(_ own: Entry, _ parents: [(StaticString, Entry)]) -> Line {
        Line(own: own, parents: parents.map { (name: $0.0, entry: $0.1) })
    }

    private func areas(_ level: String) -> [Line] {
        var lines: [Line] = []
        for (index, town) in Town.all.enumerated() where index != Town.elsewhere {
            let largeService = (town.largeService.code, town.largeService.name)
            let service = (town.service.code, town.service.name)
            let (large, middle) = ((town.large.code, town.large.name), (town.middle.code, town.middle.name))
            switch level {
            case "large_service_area": lines.append(entry(largeService, []))
            case "service_area": lines.append(entry(service, [("large_service_area", largeService)]))
            case "large_area":
                lines.append(entry(large, [("service_area", service), ("large_service_area", largeService)]))
            case "middle_area":
                lines.append(
                    entry(
                        middle,
                        [("large_area", large), ("service_area", service), ("large_service_area", largeService)]))
            default:
                for district in Lexicon.districts.indices {
                    let small = Town.smallArea(town: index, district: district)
                    lines.append(
                        entry(
                            (small.code, small.name),
                            [
                                ("middle_area", middle), ("large_area", large), ("service_area", service),
                                ("large_service_area", largeService),
                            ]))
                }
            }
        }
        var seen: Set<String> = []
        return lines.filter { seen.insert($0.own.code).inserted }
    }

    private func list(_ name: String, _ all: [Line], codes limit: Int) -> [UInt8] {
        let own = query.list(["genre", "budget", "credit_card"].contains(name) ? "code" : name, limit: limit)
        var lines = all
        if !own.isEmpty { lines = lines.filter { line in own.contains { $0 == line.own.code } } }
        for parent in ["large_service_area", "service_area", "large_area", "middle_area"] where parent != name {
            let wanted = query.list(parent, limit: limit)
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
        return write(name, Array(lines.dropFirst(min(start - 1, lines.count)).prefix(count)), total: lines.count, start)
    }

    /// The counts behind the list, as recordings of masters have them.
    private func write(_ name: String, _ lines: [Line], total: Int, _ start: Int) -> [UInt8] {
        var json = JSONWriter(capacity: 8192)
        json.beginObject()
        json.key("results")
        json.beginObject()
        json.member("api_version", "1.20")
        json.key(name)
        json.beginArray()
        for line in lines {
            json.beginObject()
            json.member("code", line.own.code)
            json.member("name", line.own.name)
            for parent in line.parents {
                json.key(parent.name)
                json.codeAndName(parent.entry)
            }
            json.endObject()
        }
        json.endArray()
        json.member("results_available", total)
        json.member("results_returned", String(lines.count))
        json.member("results_start", start)
        json.endObject()
        json.endObject()
        return json.finish()
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
    /// 0 = has a coupon.
    var couponFlag: Int { Int(hash >> 11 & 1) }

    var creditCards: [HotpepperMasters.Entry] {
        guard has(.card) else { return [] }
        return HotpepperMasters.creditCards.enumerated().filter { hash >> (30 + $0.offset) & 1 == 0 }.map(\.element)
    }

    var specials: [(code: String, name: String, category: String)] {
        HotpepperMasters.specials.enumerated().filter { hash >> (36 + $0.offset * 2) & 3 == 0 }.map(\.element)
    }

    func has(_ flag: HotpepperFlag) -> Bool {
        guard let index = HotpepperFlag.allCases.firstIndex(of: flag) else { return false }
        return features >> UInt32(index) & 1 == 1
    }
}
