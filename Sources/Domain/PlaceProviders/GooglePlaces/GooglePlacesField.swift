/// A field of a place in Google's Places API (New) that results use. Raw values are the API's names.
enum GooglePlacesField: String, CaseIterable {
    case id, displayName, formattedAddress, shortFormattedAddress, location, types, primaryType, primaryTypeDisplayName
    case googleMapsUri, businessStatus, attributions, rating, userRatingCount, priceLevel
    case currentOpeningHours, regularOpeningHours, photos, websiteUri

    /// The price tier of a field, cheapest first. A call costs as much as the most expensive field of its mask.
    enum Tier: Int, Comparable {
        case idsOnly, essentials, pro, enterprise

        static func < (a: Tier, b: Tier) -> Bool { a.rawValue < b.rawValue }
    }

    /// - Parameter name: the API's name. Opening hours may end in `.openNow`, the only part of them that is requested.
    init?(name: String) {
        self.init(rawValue: name.hasSuffix(".openNow") ? String(name.dropLast(".openNow".count)) : name)
        if name != rawValue, name != path { return nil }
    }

    /// The path of the field in a mask.
    var path: String {
        switch self {
        case .currentOpeningHours, .regularOpeningHours: rawValue + ".openNow"
        default: rawValue
        }
    }

    /// The tier of the field in a details call. The table of docs/providers-and-quotas.md has the same content, with its source.
    var tier: Tier {
        switch self {
        case .id, .attributions, .photos: .idsOnly
        case .formattedAddress, .shortFormattedAddress, .location, .types: .essentials
        case .displayName, .primaryType, .primaryTypeDisplayName, .googleMapsUri, .businessStatus: .pro
        case .rating, .userRatingCount, .priceLevel, .currentOpeningHours, .regularOpeningHours, .websiteUri:
            .enterprise
        }
    }

    /// The tier of the field in a text search, where only ids cost less than Pro.
    var textSearchTier: Tier { self == .id || self == .attributions ? .idsOnly : max(tier, .pro) }

    /// The tier of the field in a nearby search, which costs at least Pro.
    var nearbySearchTier: Tier { max(tier, .pro) }
}
