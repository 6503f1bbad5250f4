/// A field of a place in Google's Places API (New) that a result is made of. Raw values are the API's names.
enum GooglePlacesField: String, CaseIterable {
    case id, displayName, formattedAddress, shortFormattedAddress, location, types, primaryType, primaryTypeDisplayName
    case googleMapsUri, businessStatus, attributions, rating, userRatingCount, priceLevel
    case currentOpeningHours, regularOpeningHours, photos, websiteUri

    /// The price class that a field brings a call into, cheapest first. A call costs what the dearest field of its mask
    /// costs.
    enum Tier: Int, Comparable {
        case idsOnly, essentials, pro, enterprise

        static func < (a: Tier, b: Tier) -> Bool { a.rawValue < b.rawValue }
    }

    /// - Parameter name: the API's name. Opening hours may end in `.openNow`, which is all that is asked of them.
    init?(name: String) {
        self.init(rawValue: name.hasSuffix(".openNow") ? String(name.dropLast(".openNow".count)) : name)
        if name != rawValue, name != path { return nil }
    }

    /// The path that stands for the field in a mask.
    var path: String {
        switch self {
        case .currentOpeningHours, .regularOpeningHours: rawValue + ".openNow"
        default: rawValue
        }
    }

    /// The tier of the field in a details call. The table of docs/providers-and-quotas.md says the same, with its source.
    var tier: Tier {
        switch self {
        case .id, .attributions, .photos: .idsOnly
        case .formattedAddress, .shortFormattedAddress, .location, .types: .essentials
        case .displayName, .primaryType, .primaryTypeDisplayName, .googleMapsUri, .businessStatus: .pro
        case .rating, .userRatingCount, .priceLevel, .currentOpeningHours, .regularOpeningHours, .websiteUri:
            .enterprise
        }
    }

    /// The tier of the field in a text search, which has no Essentials tier for more than ids.
    var textSearchTier: Tier { self == .id || self == .attributions ? .idsOnly : max(tier, .pro) }

    /// The tier of the field in a nearby search, which costs Pro at least.
    var nearbySearchTier: Tier { max(tier, .pro) }
}
