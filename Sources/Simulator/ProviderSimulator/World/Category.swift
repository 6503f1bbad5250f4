/// A category of places, with its names in all APIs. A place stores its category as an index of `all`.
struct Category: Sendable {
    /// Hot Pepper's genre; `nil` for categories that Hot Pepper does not list.
    let genre: (code: String, name: String)?
    let japanese: String
    let english: String
    /// The search words for the category, in lower case.
    let keywords: [String]
    /// The types in Google's older API, most specific first.
    let legacyTypes: [String]
    /// The `primaryType` in Google Places (New). Its `types` are this type followed by the legacy ones.
    let primaryType: String
    /// The number of places of this category per thousand.
    let share: Int

    var isFood: Bool { genre != nil }

    private static func food(
        _ code: String, _ name: String, _ english: String, _ primaryType: String, _ share: Int, _ keywords: [String],
        legacy: [String] = ["restaurant"]
    ) -> Category {
        Category(
            genre: (code, name), japanese: name, english: english, keywords: keywords,
            legacyTypes: legacy + ["food", "point_of_interest", "establishment"], primaryType: primaryType,
            share: share)
    }

    private static func other(
        _ japanese: String, _ english: String, _ primaryType: String, _ share: Int, _ keywords: [String],
        types: [String]
    ) -> Category {
        Category(
            genre: nil, japanese: japanese, english: english, keywords: keywords,
            legacyTypes: types + ["point_of_interest", "establishment"], primaryType: primaryType, share: share)
    }

    static let all: [Category] = [
        food(
            "G001", "居酒屋", "Izakaya", "bar", 150, ["izakaya", "居酒屋", "焼鳥", "yakitori"], legacy: ["bar", "restaurant"]),
        food("G002", "ダイニングバー・バル", "Dining Bar", "bar", 50, ["バル", "ダイニングバー"], legacy: ["bar", "restaurant"]),
        food("G003", "創作料理", "Creative Kitchen", "restaurant", 25, ["創作"]),
        food("G004", "和食", "Japanese Dining", "japanese_restaurant", 90, ["和食", "sushi", "寿司", "すし", "japanese"]),
        food("G005", "洋食", "Western Grill", "american_restaurant", 35, ["洋食", "western", "steak"]),
        food(
            "G006", "イタリアン・フレンチ", "Trattoria", "italian_restaurant", 60,
            ["イタリアン", "フレンチ", "italian", "french", "pizza", "パスタ"]),
        food("G007", "中華", "Chinese Kitchen", "chinese_restaurant", 55, ["中華", "chinese", "餃子", "gyoza"]),
        food("G008", "焼肉・ホルモン", "Yakiniku", "barbecue_restaurant", 45, ["焼肉", "yakiniku", "bbq"]),
        food("G017", "韓国料理", "Korean Table", "korean_restaurant", 20, ["韓国", "korean"]),
        food("G009", "アジア・エスニック料理", "Asian Spice", "thai_restaurant", 25, ["カレー", "curry", "asian", "thai"]),
        food("G010", "各国料理", "World Food", "restaurant", 10, ["各国"]),
        food("G011", "カラオケ・パーティ", "Karaoke Party", "karaoke", 10, ["カラオケ", "karaoke"], legacy: ["restaurant"]),
        food("G012", "バー・カクテル", "Bar", "bar", 40, ["バー", "bar", "cocktail"], legacy: ["bar"]),
        food("G013", "ラーメン", "Ramen", "ramen_restaurant", 65, ["ラーメン", "らーめん", "ramen", "noodle"]),
        food("G016", "お好み焼き・もんじゃ", "Okonomiyaki", "japanese_restaurant", 15, ["お好み焼き", "okonomiyaki"]),
        food(
            "G014", "カフェ・スイーツ", "Cafe", "cafe", 95, ["カフェ", "cafe", "coffee", "珈琲", "スイーツ"],
            legacy: ["cafe", "restaurant"]),
        food("G015", "その他グルメ", "Diner", "restaurant", 10, ["グルメ"]),
        other("病院", "Hospital", "hospital", 55, ["病院", "hospital"], types: ["hospital", "health"]),
        other("クリニック", "Clinic", "doctor", 25, ["クリニック", "clinic", "医院", "doctor"], types: ["doctor", "health"]),
        other("薬局", "Pharmacy", "pharmacy", 30, ["薬局", "pharmacy"], types: ["pharmacy", "health", "store"]),
        other(
            "コンビニ", "Convenience Store", "convenience_store", 45, ["コンビニ", "convenience"],
            types: ["convenience_store", "food", "store"]),
        other("ホテル", "Hotel", "hotel", 25, ["ホテル", "hotel"], types: ["lodging"]),
        other("公園", "Park", "park", 20, ["公園", "park"], types: ["park"]),
    ]

    /// A set of categories, with one bit for each.
    typealias Mask = UInt32
    static let everything = mask { _ in true }
    /// The categories that Hot Pepper lists.
    static let foodMask = mask { $0.isFood }

    /// Returns the categories for which `holds` is true.
    static func mask(where holds: (Category) -> Bool) -> Mask {
        var mask: Mask = 0
        for (index, category) in all.enumerated() where holds(category) { mask |= 1 << Mask(index) }
        return mask
    }

    /// Returns the categories with a Google type; 0 if there are none.
    static func mask(ofType type: String) -> Mask { typeMasks[type] ?? 0 }

    private static let typeMasks: [String: Mask] = {
        var masks: [String: Mask] = [:]
        for (index, category) in all.enumerated() {
            for type in category.types { masks[type, default: 0] |= 1 << Mask(index) }
        }
        return masks
    }()

    /// The types in Google Places (New), the primary one first.
    var types: [String] {
        legacyTypes.first == primaryType ? legacyTypes : [primaryType] + legacyTypes.filter { $0 != primaryType }
    }

    /// A category for each number in 0..<1000. Each occurs `share` times.
    static let byShare: [UInt8] = {
        var table: [UInt8] = []
        for (index, category) in all.enumerated() {
            table += Array(repeating: UInt8(truncatingIfNeeded: index), count: category.share)
        }
        return table
    }()
}
