/// The class by which a provider charges one call: its SKU. Raw values are contract: metrics show them.
///
/// Google charges a call of its newer API by the operation and by the most expensive requested field. Its older API charges
/// by operation. Hot Pepper is free; its calls have a class so that every call is counted in one.
public enum PriceClass: String, CaseIterable, Sendable, Hashable {
    case nearbySearchPro = "nearby-search-pro"
    case nearbySearchEnterprise = "nearby-search-enterprise"
    case textSearchIDsOnly = "text-search-essentials-ids-only"
    case textSearchPro = "text-search-pro"
    case textSearchEnterprise = "text-search-enterprise"
    case placeDetailsIDsOnly = "place-details-essentials-ids-only"
    case placeDetailsEssentials = "place-details-essentials"
    case placeDetailsPro = "place-details-pro"
    case placeDetailsEnterprise = "place-details-enterprise"
    case placeDetailsPhotos = "place-details-photos"
    case legacyNearbySearch = "legacy-nearby-search"
    case legacyPlaceDetails = "legacy-place-details"
    case legacyPlacePhoto = "legacy-place-photo"
    case hotpepper

    /// The provider that charges by this class.
    public var provider: ProviderID {
        switch self {
        case .nearbySearchPro, .nearbySearchEnterprise, .textSearchIDsOnly, .textSearchPro, .textSearchEnterprise,
            .placeDetailsIDsOnly, .placeDetailsEssentials, .placeDetailsPro, .placeDetailsEnterprise,
            .placeDetailsPhotos:
            .googlePlaces
        case .legacyNearbySearch, .legacyPlaceDetails, .legacyPlacePhoto: .googlePlacesLegacy
        case .hotpepper: .hotpepper
        }
    }
}
