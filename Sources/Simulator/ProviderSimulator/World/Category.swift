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
        code: String, name: String, english: String, keywords: [String], primary: String, share: Int,
        legacy: [String] = ["restaurant"]
    ) -> Category {
        Category(
            genre: (code, name), japanese: name, english: english, keywords: keywords,
            legacyTypes: legacy + ["food", "point_of_interest", "establishment"], primaryType: primary, share: share)
    }

    private static func other(
        japanese: String, english: String, keywords: [String], types: [String], primary: String, share: Int
    ) -> Category {
        Category(
            genre: nil, japanese: japanese, english: english, keywords: keywords,
            legacyTypes: types + ["point_of_interest", "establishment"], primaryType: primary, share: share)
    }

    static let all: [Category] = [
        food(
            code: "G001", name: "居酒屋", english: "Izakaya", keywords: ["izakaya", "居酒屋", "焼鳥", "yakitori"],
            primary: "bar", share: 150,
            legacy: ["bar", "restaurant"]),
        food(
            code: "G002", name: "ダイニングバー・バル", english: "Dining Bar", keywords: ["バル", "ダイニングバー"], primary: "bar",
            share: 50,
            legacy: ["bar", "restaurant"]),
        food(
            code: "G003", name: "創作料理", english: "Creative Kitchen", keywords: ["創作"], primary: "restaurant", share: 25),
        food(
            code: "G004", name: "和食", english: "Japanese Dining", keywords: ["和食", "sushi", "寿司", "すし", "japanese"],
            primary: "japanese_restaurant", share: 90),
        food(
            code: "G005", name: "洋食", english: "Western Grill", keywords: ["洋食", "western", "steak"],
            primary: "american_restaurant",
            share: 35),
        food(
            code: "G006", name: "イタリアン・フレンチ", english: "Trattoria",
            keywords: ["イタリアン", "フレンチ", "italian", "french", "pizza", "パスタ"],
            primary: "italian_restaurant", share: 60),
        food(
            code: "G007", name: "中華", english: "Chinese Kitchen", keywords: ["中華", "chinese", "餃子", "gyoza"],
            primary: "chinese_restaurant",
            share: 55),
        food(
            code: "G008", name: "焼肉・ホルモン", english: "Yakiniku", keywords: ["焼肉", "yakiniku", "bbq"],
            primary: "barbecue_restaurant",
            share: 45),
        food(
            code: "G017", name: "韓国料理", english: "Korean Table", keywords: ["韓国", "korean"],
            primary: "korean_restaurant", share: 20),
        food(
            code: "G009", name: "アジア・エスニック料理", english: "Asian Spice", keywords: ["カレー", "curry", "asian", "thai"],
            primary: "thai_restaurant", share: 25),
        food(code: "G010", name: "各国料理", english: "World Food", keywords: ["各国"], primary: "restaurant", share: 10),
        food(
            code: "G011", name: "カラオケ・パーティ", english: "Karaoke Party", keywords: ["カラオケ", "karaoke"],
            primary: "karaoke", share: 10,
            legacy: ["restaurant"]),
        food(
            code: "G012", name: "バー・カクテル", english: "Bar", keywords: ["バー", "bar", "cocktail"], primary: "bar",
            share: 40, legacy: ["bar"]),
        food(
            code: "G013", name: "ラーメン", english: "Ramen", keywords: ["ラーメン", "らーめん", "ramen", "noodle"],
            primary: "ramen_restaurant",
            share: 65),
        food(
            code: "G016", name: "お好み焼き・もんじゃ", english: "Okonomiyaki", keywords: ["お好み焼き", "okonomiyaki"],
            primary: "japanese_restaurant",
            share: 15),
        food(
            code: "G014", name: "カフェ・スイーツ", english: "Cafe", keywords: ["カフェ", "cafe", "coffee", "珈琲", "スイーツ"],
            primary: "cafe", share: 95,
            legacy: ["cafe", "restaurant"]),
        food(code: "G015", name: "その他グルメ", english: "Diner", keywords: ["グルメ"], primary: "restaurant", share: 10),
        other(
            japanese: "病院", english: "Hospital", keywords: ["病院", "hospital"], types: ["hospital", "health"],
            primary: "hospital",
            share: 55),
        other(
            japanese: "クリニック", english: "Clinic", keywords: ["クリニック", "clinic", "医院", "doctor"],
            types: ["doctor", "health"],
            primary: "doctor", share: 25),
        other(
            japanese: "薬局", english: "Pharmacy", keywords: ["薬局", "pharmacy"], types: ["pharmacy", "health", "store"],
            primary: "pharmacy",
            share: 30),
        other(
            japanese: "コンビニ", english: "Convenience Store", keywords: ["コンビニ", "convenience"],
            types: ["convenience_store", "food", "store"], primary: "convenience_store", share: 45),
        other(
            japanese: "ホテル", english: "Hotel", keywords: ["ホテル", "hotel"], types: ["lodging"], primary: "hotel",
            share: 25),
        other(japanese: "公園", english: "Park", keywords: ["公園", "park"], types: ["park"], primary: "park", share: 20),
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
