/// The price tiers of Google Places (New), by the fields of its price tables for details.
enum GooglePlacesTier: Int {
    /// A method that bills by the fields of its mask.
    enum Call { case nearby, text, details }

    case idsOnly, essentials, pro, enterprise, atmosphere

    /// The fields of each tier. Fields that are not here are the most expensive ones.
    private static let fields: [Set<Substring>] = [
        "attributions id name photos movedPlace movedPlaceId",
        """
        addressComponents addressDescriptor adrFormatAddress formattedAddress location plusCode postalAddress
        shortFormattedAddress types viewport
        """,
        """
        accessibilityOptions businessStatus containingPlaces displayName googleMapsLinks googleMapsTypeLabel googleMapsUri
        iconBackgroundColor iconMaskBaseUri openingDate primaryType primaryTypeDisplayName pureServiceAreaBusiness
        subDestinations timeZone utcOffsetMinutes
        """,
        """
        currentOpeningHours currentSecondaryOpeningHours internationalPhoneNumber nationalPhoneNumber priceLevel priceRange
        rating regularOpeningHours regularSecondaryOpeningHours userRatingCount websiteUri
        """,
    ].map { Set($0.split(whereSeparator: \.isWhitespace)) }

    private static let names = ["essentials-ids-only", "essentials", "pro", "enterprise", "enterprise-atmosphere"]

    /// Returns the name of the SKU that Google bills for a call.
    /// - Parameter paths: the requested paths of a place; `*` for all.
    static func sku(of call: Call, paths: [Substring]) -> String {
        let tiers = paths.map { path in
            let field = path.prefix { $0 != "." }
            let tier = fields.firstIndex { $0.contains(field) } ?? atmosphere.rawValue
            // Searches cost at least Pro, apart from a text search for ids.
            let isFree = call == .text && ["attributions", "id", "name"].contains(field)
            return call == .details || isFree ? tier : max(tier, pro.rawValue)
        }
        let method = call == .nearby ? "nearby-search" : call == .text ? "text-search" : "place-details"
        return "\(method)-\(names[tiers.max() ?? (call == .nearby ? pro : idsOnly).rawValue])"
    }
}
