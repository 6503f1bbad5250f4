import HTTPTransport
import JSON
import LocationSearch

/// Makes the calls of the gourmet search.
struct HotpepperRequests {
    /// The address and the key.
    let configuration: ProviderConfiguration
    /// The form of the answers, see `HotpepperResponseType`.
    let response: HotpepperResponseType

    /// The radii of `range` 1 to 5, in metres.
    private static let ranges: [Double] = [300, 500, 1000, 2000, 3000]

    func call(for request: borrowing SearchRequest) -> HTTPRequest {
        var url = QueryURL(configuration.baseURL, path: "/hotpepper/gourmet/v1/")
        url.add("key", configuration.apiKey)
        if request.operation == .search, let location = request.location {
            url.add("lat", decimal: location.latitude)
            url.add("lng", decimal: location.longitude)
            url.add("range", Self.range(covering: request.radiusMeters) + 1)
            // A comma would separate keywords, even an encoded one; a blank requires both.
            url.add("keyword", request.keyword.map(Self.withoutCommas))
            if request.hasOptions {
                let genres = request.wantedCategories.compactMap(Self.genre)
                url.add("genre", genres.contains("") ? nil : genres.joined(separator: ","))
                // With a position, the default order is by distance.
                if request.options.ranking == .popularity { url.add("order", 4) }
            } else if let genre = Self.genre(for: request.category), !genre.isEmpty {
                url.add("genre", genre)
            }
            let start = Self.start(of: request)
            if start > 1 { url.add("start", start) }
            url.add("count", request.limit)
        } else {
            url.add("id", request.placeID)
        }

        if response.applied(toPhoto: request.operation == .photo) == .lite { url.add("type", "lite") }
        url.add("format", "json")
        return HTTPRequest(url: url.text)
    }

    /// Returns the index of the smallest search step that covers the radius, or of the largest one.
    private static func range(covering radius: Double) -> Int {
        ranges.firstIndex { $0 >= radius } ?? ranges.count - 1
    }

    /// Returns the radius of the search step that a request gets, in metres.
    static func radius(of request: borrowing SearchRequest) -> Double { ranges[range(covering: request.radiusMeters)] }

    /// Returns the offset of the first result, counted from 1.
    static func start(of request: borrowing SearchRequest) -> Int { request.pageToken.flatMap(start) ?? 1 }

    private static func withoutCommas(_ text: String) -> String {
        let comma = UInt8(ascii: ",")
        let bytes = text.utf8.span
        for index in bytes.indices where bytes[index] == comma {
            return String(decoding: text.utf8.map { $0 == comma ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        }
        return text
    }

    /// Returns the genre filter for a category.
    /// - Returns: a genre code; empty for no filter; `nil` if the category is not a restaurant.
    static func genre(for category: String) -> String? {
        if let known = knownGenre(category) ?? knownGenre(category.lowercased()) { return known }
        let bytes = Array(category.utf8)
        let isCode =
            bytes.count == 4 && (bytes[0] | 0x20) == UInt8(ascii: "g")
            && bytes[1...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isCode ? category.uppercased() : nil
    }

    /// Finds a genre of the master list by the provider's name or the contract's name. A switch over constants takes a
    /// tenth of the instructions of a dictionary.
    private static func knownGenre(_ name: String) -> String? {
        switch JSONText(plain: name.utf8.span) {
        case "restaurant", "food": ""
        case "居酒屋", "izakaya": "G001"
        case "ダイニングバー・バル": "G002"
        case "創作料理": "G003"
        case "和食", "japanese_restaurant": "G004"
        case "洋食": "G005"
        case "イタリアン・フレンチ", "italian_restaurant", "french_restaurant": "G006"
        case "中華", "chinese_restaurant": "G007"
        case "焼肉・ホルモン": "G008"
        case "アジア・エスニック料理": "G009"
        case "各国料理": "G010"
        case "カラオケ・パーティ", "karaoke": "G011"
        case "バー・カクテル", "bar": "G012"
        case "ラーメン", "ramen_restaurant", "ramen": "G013"
        case "カフェ・スイーツ", "cafe": "G014"
        case "その他グルメ": "G015"
        case "お好み焼き・もんじゃ": "G016"
        case "韓国料理", "korean_restaurant": "G017"
        default: nil
        }
    }

    /// Returns the start offset, which is the whole content of the provider's page token; `nil` if the token is invalid.
    static func start(from token: String) -> Int? {
        guard let start = Int(token), (1...1_000_000).contains(start) else { return nil }
        return start
    }

    /// Returns whether the text has the format of shop ids: `J` and 9 digits, as in the reference and in all known recordings.
    static func isShopID(_ text: String) -> Bool {
        guard text.utf8.count == 10, text.utf8.first == UInt8(ascii: "J") else { return false }
        return text.utf8.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

/// The form of Hot Pepper's answers. Raw values are those of the setting `hotpepper.response`.
public enum HotpepperResponseType: String, CaseIterable, Sendable, Hashable {
    /// The short form, about a quarter of the bytes. It has all that a result needs, except the sub-genre.
    case lite
    /// Every member of a shop.
    case full

    /// Returns the form for a request.
    ///
    /// A photo request always uses the full form. The short form omits pictures for mobile devices, which may be the only
    /// ones, and the request would then end with `not-found`.
    func applied(toPhoto isPhoto: Bool) -> HotpepperResponseType { isPhoto ? .full : self }
}
