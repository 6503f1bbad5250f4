/// What a place is, in the three providers' words. The index in `all` is what a place stores.
struct Category: Sendable {
    /// Hot Pepper's genre; `nil`: Hot Pepper does not list such places.
    let genre: (code: String, name: String)?
    let japanese: String
    let english: String
    /// Lower case; what people search for.
    let keywords: [String]
    /// Legacy types, the most telling first.
    let legacyTypes: [String]
    /// New's `primaryType`; its `types` are this one, then the legacy ones.
    let primaryType: String
    /// How many of a thousand places are of this category.
    let share: Int

    var isFood: Bool { genre != nil }

    private static func food(
        _ code: String, _ name: String, _ english: String, _ keywords: [String], _ primary: String, _ share: Int,
        _ legacy: [String] = ["restaurant"]
    ) -> Category {
        Category(
            genre: (code, name), japanese: name, english: english, keywords: keywords,
            legacyTypes: legacy + ["food", "point_of_interest", "establishment"], primaryType: primary, share: share)
    }

    private static func other(
        _ japanese: String, _ english: String, _ keywords: [String], _ types: [String], _ primary: String, _ share: Int
    ) -> Category {
        Category(
            genre: nil, japanese: japanese, english: english, keywords: keywords,
            legacyTypes: types + ["point_of_interest", "establishment"], primaryType: primary, share: share)
    }

    static let all: [Category] = [
        food("G001", "居酒屋", "Izakaya", ["izakaya", "居酒屋", "焼鳥", "yakitori"], "bar", 150, ["bar", "restaurant"]),
        food("G002", "ダイニングバー・バル", "Dining Bar", ["バル", "ダイニングバー"], "bar", 50, ["bar", "restaurant"]),
        food("G003", "創作料理", "Creative Kitchen", ["創作"], "restaurant", 25),
        food("G004", "和食", "Japanese Dining", ["和食", "sushi", "寿司", "すし", "japanese"], "japanese_restaurant", 90),
        food("G005", "洋食", "Western Grill", ["洋食", "western", "steak"], "american_restaurant", 35),
        food(
            "G006", "イタリアン・フレンチ", "Trattoria", ["イタリアン", "フレンチ", "italian", "french", "pizza", "パスタ"],
            "italian_restaurant", 60),
        food("G007", "中華", "Chinese Kitchen", ["中華", "chinese", "餃子", "gyoza"], "chinese_restaurant", 55),
        food("G008", "焼肉・ホルモン", "Yakiniku", ["焼肉", "yakiniku", "bbq"], "barbecue_restaurant", 45),
        food("G017", "韓国料理", "Korean Table", ["韓国", "korean"], "korean_restaurant", 20),
        food("G009", "アジア・エスニック料理", "Asian Spice", ["カレー", "curry", "asian", "thai"], "thai_restaurant", 25),
        food("G010", "各国料理", "World Food", ["各国"], "restaurant", 10),
        food("G011", "カラオケ・パーティ", "Karaoke Party", ["カラオケ", "karaoke"], "karaoke", 10, ["restaurant"]),
        food("G012", "バー・カクテル", "Bar", ["バー", "bar", "cocktail"], "bar", 40, ["bar"]),
        food("G013", "ラーメン", "Ramen", ["ラーメン", "らーめん", "ramen", "noodle"], "ramen_restaurant", 65),
        food("G016", "お好み焼き・もんじゃ", "Okonomiyaki", ["お好み焼き", "okonomiyaki"], "japanese_restaurant", 15),
        food(
            "G014", "カフェ・スイーツ", "Cafe", ["カフェ", "cafe", "coffee", "珈琲", "スイーツ"], "cafe", 95,
            ["cafe", "restaurant"]),
        food("G015", "その他グルメ", "Diner", ["グルメ"], "restaurant", 10),
        other("病院", "Hospital", ["病院", "hospital"], ["hospital", "health"], "hospital", 55),
        other("クリニック", "Clinic", ["クリニック", "clinic", "医院", "doctor"], ["doctor", "health"], "doctor", 25),
        other("薬局", "Pharmacy", ["薬局", "pharmacy"], ["pharmacy", "health", "store"], "pharmacy", 30),
        other(
            "コンビニ", "Convenience Store", ["コンビニ", "convenience"], ["convenience_store", "food", "store"],
            "convenience_store", 45),
        other("ホテル", "Hotel", ["ホテル", "hotel"], ["lodging"], "hotel", 25),
        other("公園", "Park", ["公園", "park"], ["park"], "park", 20),
        locality,
    ]

    /// A town itself: no rating, no status. The first answer of a search without type.
    private static let locality = Category(
        genre: nil, japanese: "", english: "", keywords: [], legacyTypes: ["locality", "political"],
        primaryType: "locality", share: 0)
    static let localityIndex = all.count - 1
    static let hospitalIndex = all.firstIndex { $0.primaryType == "hospital" } ?? 0

    /// A bit per category.
    typealias Mask = UInt32
    static let everything: Mask = (1 << UInt32(localityIndex)) - 1
    static let foodMask = mask { $0.isFood }

    static func mask(where holds: (Category) -> Bool) -> Mask {
        var mask: Mask = 0
        for (index, category) in all.enumerated() where holds(category) { mask |= 1 << Mask(index) }
        return mask
    }

    /// The categories of a Google type; 0 when none has it.
    static func mask(ofType type: String, primary: Bool = false) -> Mask {
        typeMasks[type].map { primary ? $0.primary : $0.any } ?? 0
    }

    private static let typeMasks: [String: (any: Mask, primary: Mask)] = {
        var masks: [String: (any: Mask, primary: Mask)] = [:]
        for (index, category) in all.enumerated() {
            for type in Set(category.types) { masks[type, default: (0, 0)].any |= 1 << Mask(index) }
            masks[category.primaryType, default: (0, 0)].primary |= 1 << Mask(index)
        }
        return masks
    }()

    /// New's types, the primary one first.
    var types: [String] {
        legacyTypes.first == primaryType ? legacyTypes : [primaryType] + legacyTypes.filter { $0 != primaryType }
    }

    /// 0..<1000 -> category, by `share`.
    static let byShare: [UInt8] = {
        var table: [UInt8] = []
        for (index, category) in all.enumerated() {
            table += Array(repeating: UInt8(truncatingIfNeeded: index), count: category.share)
        }
        return table
    }()
}
