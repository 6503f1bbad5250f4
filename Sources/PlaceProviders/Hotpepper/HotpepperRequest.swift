import LocationSearch

/// One call to the gourmet search, made of a request.
struct HotpepperRequest {
    /// The URL with the API key in it.
    let url: String
    /// The operation of the request.
    let operation: SearchOperation
    /// The offset of the first result, counted from 1.
    let start: Int
    /// The radius of the step that a search asks for, in metres; `nil` for details and photo.
    let radiusMeters: Double?

    /// The radii that `range` 1 to 5 stand for, in metres.
    private static let ranges: [Double] = [300, 500, 1000, 2000, 3000]

    /// - Parameter response: the form of the answers, see `HotpepperResponseType`.
    init(_ request: SearchRequest, configuration: ProviderConfiguration, response: HotpepperResponseType) {
        operation = request.operation
        var url = QueryURL(configuration.baseURL, path: "/hotpepper/gourmet/v1/")
        url.add("key", configuration.apiKey)
        if request.operation == .search, let location = request.location {
            // The step is the smallest that covers the radius, or the largest there is.
            let range = Self.ranges.firstIndex { $0 >= request.radiusMeters } ?? Self.ranges.count - 1
            start = request.pageToken.flatMap(Self.start) ?? 1
            radiusMeters = Self.ranges[range]

            url.add("lat", decimal: location.latitude)
            url.add("lng", decimal: location.longitude)
            url.add("range", range + 1)
            // A comma would separate keywords, even an encoded one; a blank asks for both.
            url.add("keyword", request.keyword.map { String($0.map { $0 == "," ? " " : $0 }) })
            if let genre = Self.genre(for: request.category), !genre.isEmpty { url.add("genre", genre) }
            if start > 1 { url.add("start", start) }
            url.add("count", request.limit)
        } else {
            start = 1
            radiusMeters = nil
            url.add("id", request.placeID)
        }

        if response.applied(toPhoto: operation == .photo) == .lite { url.add("type", "lite") }
        url.add("format", "json")
        self.url = url.text
    }

    /// Returns the genre to filter by for a category.
    /// - Returns: a genre code; empty for no filter; `nil` for what is no restaurant.
    static func genre(for category: String) -> String? {
        if let known = genres[category] ?? genres[category.lowercased()] { return known }
        let bytes = Array(category.utf8)
        let isCode =
            bytes.count == 4 && (bytes[0] | 0x20) == UInt8(ascii: "g")
            && bytes[1...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isCode ? category.uppercased() : nil
    }

    /// The genres of the master list by their names, the provider's and the contract's.
    private static let genres: [String: String] = [
        "restaurant": "", "food": "", "居酒屋": "G001", "izakaya": "G001", "ダイニングバー・バル": "G002",
        "創作料理": "G003", "和食": "G004", "japanese_restaurant": "G004", "洋食": "G005",
        "イタリアン・フレンチ": "G006", "italian_restaurant": "G006", "french_restaurant": "G006", "中華": "G007",
        "chinese_restaurant": "G007", "焼肉・ホルモン": "G008", "韓国料理": "G017", "korean_restaurant": "G017",
        "アジア・エスニック料理": "G009", "各国料理": "G010", "カラオケ・パーティ": "G011", "karaoke": "G011",
        "バー・カクテル": "G012", "bar": "G012", "ラーメン": "G013", "ramen_restaurant": "G013", "ramen": "G013",
        "お好み焼き・もんじゃ": "G016", "カフェ・スイーツ": "G014", "cafe": "G014", "その他グルメ": "G015",
    ]

    /// Returns the offset to start from, which is all that the provider's own page token holds; `nil` when it is none.
    static func start(from token: String) -> Int? {
        guard let start = Int(token), (1...1_000_000).contains(start) else { return nil }
        return start
    }

    /// Returns true for texts in the form of shop ids: `J` and 9 digits, as in the reference and in every recording seen.
    static func isShopID(_ text: String) -> Bool {
        guard text.utf8.count == 10, text.utf8.first == UInt8(ascii: "J") else { return false }
        return text.utf8.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
