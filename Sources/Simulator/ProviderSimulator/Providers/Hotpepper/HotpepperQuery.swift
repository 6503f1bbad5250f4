/// Parses the parameters of a gourmet search.
struct HotpepperQuery {
    /// The query for the places of the search.
    var places: PlaceQuery

    /// The radius in metres for each `range` from 1 to 5.
    static let ranges = [300.0, 500, 1000, 2000, 3000]

    /// Fails if a parameter is missing or invalid. The answer is then error 3000.
    init?(_ query: QueryParameters, resources: LoopResources) {
        guard Self.starred.contains(where: { query[$0].map { !$0.isEmpty } ?? false }) else { return nil }

        let match = query["keyword"].flatMap { resources.keyword($0, lenient: false) }
        let isPlain = query.hasOnly(Self.plain)
        let areas = isPlain ? AreaCodes() : AreaCodes(query)

        if query.has("lat") || query.has("lng") {
            guard let circle = Self.circle(query) else { return nil }
            places = PlaceQuery(area: circle)
        } else {
            // A search without a position covers the area around the first town that it names.
            let town = Town.all[areas.town ?? match?.town ?? 0]
            places = PlaceQuery(area: .circle(latitude: town.latitude, longitude: town.longitude, radius: 3000))
        }

        places.keyword = match
        places.categories = Self.genres(query)
        places.order = Self.order(query)
        if isPlain { return }

        for pair in query.pairs where pair.value == "1" {
            if let bit = HotpepperFlag.bits[pair.name] { places.features |= bit }
        }

        places.condition = Self.condition(query, areas: areas)
    }

    private static func circle(_ query: QueryParameters) -> PlaceQuery.Area? {
        guard let latitude = degrees(query["lat"], limit: 90), let longitude = degrees(query["lng"], limit: 180),
            let range = Int(query["range"] ?? "3"), (1...5).contains(range)
        else { return nil }

        let isTokyo = query["datum"] == "tokyo"
        let position =
            isTokyo ? Datum.world(fromTokyo: (latitude, longitude)) : (latitude: latitude, longitude: longitude)
        // bounded: a range is 1 to 5
        return .circle(latitude: position.latitude, longitude: position.longitude, radius: ranges[range - 1])
    }

    /// The parameters of most searches. If there are no others, the remaining checks are skipped.
    private static let plain: Set<String> = [
        "key", "format", "lat", "lng", "range", "count", "start", "order", "datum", "keyword", "genre",
    ]

    /// The parameters of which at least one is required.
    private static let starred = [
        "lat", "lng", "keyword", "large_service_area", "service_area", "large_area", "middle_area", "small_area",
        "special", "special_or",
    ]

    private static func degrees(_ text: String?, limit: Double) -> Double? {
        guard let text, let number = Double(text), number.magnitude <= limit else { return nil }
        return number
    }

    private static func genres(_ query: QueryParameters) -> Category.Mask {
        let codes = query.list("genre").filter { !$0.hasPrefix("fault:") }
        guard !codes.isEmpty else { return Category.foodMask }
        return Category.mask { kind in kind.genre.map { genre in codes.contains { $0 == genre.code } } ?? false }
    }

    /// Returns the order. With a position, places are sorted by distance unless the order is 4.
    private static func order(_ query: QueryParameters) -> PlaceQuery.Order {
        let order = query["order"]
        if query.has("lat") { return order == "4" ? .prominence : .distance }
        return order == "1" ? .kana : order == "2" ? .category : order == "3" ? .distance : .prominence
    }

    /// Combines the rarely used parameters to one condition on a place; `nil` if there are none.
    private static func condition(
        _ query: QueryParameters, areas: AreaCodes
    ) -> ((SimulatedPlace, Cell) -> Bool)? {
        let tests = [areaTests(areas), shopTests(query), specialTests(query), textTests(query)].flatMap(\.self)
        guard !tests.isEmpty else { return nil }
        return { place, cell in tests.allSatisfy { $0(place, cell) } }
    }

    private typealias Test = (SimulatedPlace, Cell) -> Bool

    private static func areaTests(_ areas: AreaCodes) -> [Test] {
        areas.town != nil || areas.isUnknown ? [{ _, cell in areas.contains(cell) }] : []
    }

    private static func shopTests(_ query: QueryParameters) -> [Test] {
        var tests: [Test] = []
        let budgets = query.list("budget", limit: 2).compactMap { code in
            HotpepperMasters.budgets.firstIndex { $0.code == code }
        }

        if query.has("budget") { tests.append { place, _ in budgets.contains(place.budget) } }
        if let people = query["party_capacity"].flatMap({ Int($0) }) {
            tests.append { place, _ in place.partyCapacity ?? 0 >= people }
        }

        // Unlike every other flag, 0 means with a coupon and 1 without.
        if let coupon = query["ktai_coupon"] {
            tests.append { place, _ in place.couponFlag == (coupon == "1" ? 1 : 0) }
        }

        let cards = query.list("credit_card")
        if !cards.isEmpty {
            tests.append { place, _ in cards.allSatisfy { code in place.creditCards.contains { $0.code == code } } }
        }

        return tests
    }

    private static func specialTests(_ query: QueryParameters) -> [Test] {
        var tests: [Test] = []
        for (name, isAny) in [
            ("special", false), ("special_or", true), ("special_category", false), ("special_category_or", true),
        ] {
            let codes = query.list(name).map(String.init)
            guard !codes.isEmpty else { continue }
            let isCategory = name.hasPrefix("special_category")
            tests.append { place, _ in
                let own = place.specials.map { isCategory ? $0.category : $0.code }
                return isAny ? codes.contains { own.contains($0) } : codes.allSatisfy { own.contains($0) }
            }
        }
        return tests
    }

    private static func textTests(_ query: QueryParameters) -> [Test] {
        let members: [(String, @Sendable (PlaceText) -> String)] = [
            ("name", { $0.hotpepperName }), ("name_kana", { $0.kana }),
            ("name_any", { $0.hotpepperName + "\n" + $0.kana }), ("address", { $0.hotpepperAddress }),
            ("tel", { $0.phoneDigits }),
        ]
        return members.compactMap { name, read in
            guard let part = query[name], !part.isEmpty, !part.hasPrefix("fault:") else { return nil }
            return { place, cell in read(PlaceText(place: place, cell: cell)).contains(part) }
        }
    }
}

/// The areas named in a search. Values beyond the limit of each list are ignored, as described in the reference.
private struct AreaCodes {
    private var districts: Set<Int> = []
    private var towns: [Int] = []
    /// True if the search names areas, but none of them exists.
    private(set) var isUnknown = false
    /// The first town in the search, as an index of `Town.all`.
    var town: Int? { towns.first }

    init() {}

    init(_ query: QueryParameters) {
        let limits = [
            ("large_service_area", 1), ("service_area", 3), ("large_area", 3), ("middle_area", 5), ("small_area", 5),
        ]
        for (level, (name, limit)) in limits.enumerated() {
            let codes = query.list(name, limit: limit)
            guard !codes.isEmpty else { continue }
            for (index, town) in Town.all.enumerated() where index != Town.elsewhere {
                let own = [town.largeService.code, town.service.code, town.large.code, town.middle.code]
                if level < 4, codes.contains(where: { $0 == own[level] }) { towns.append(index) }
                guard level == 4 else { continue }
                for district in Lexicon.districts.indices
                where codes.contains(where: { $0 == Town.smallArea(town: index, district: district).code }) {
                    towns.append(index)
                    districts.insert(district)
                }
            }

            isUnknown = towns.isEmpty
        }
    }

    func contains(_ cell: Cell) -> Bool {
        towns.contains(cell.town) && (districts.isEmpty || districts.contains(cell.district))
    }
}

/// Converts positions between the world datum and the old Japanese one. It uses the common linear formulas, which are
/// accurate to a few metres.
enum Datum {
    static func world(
        fromTokyo position: (latitude: Double, longitude: Double)
    ) -> (latitude: Double, longitude: Double) {
        let (latitude, longitude) = position
        return (
            latitude - 0.00010695 * latitude + 0.000017464 * longitude + 0.0046017,
            longitude - 0.000046038 * latitude - 0.000083043 * longitude + 0.010040
        )
    }

    static func tokyo(
        fromWorld position: (latitude: Double, longitude: Double)
    ) -> (latitude: Double, longitude: Double) {
        let (latitude, longitude) = position
        return (
            latitude + 0.00010696 * latitude - 0.000017467 * longitude - 0.0046020,
            longitude + 0.000046047 * latitude + 0.000083049 * longitude - 0.010041
        )
    }
}
