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

/// A method of a provider's API, for which the provider may limit the calls per minute. Raw values are contract: they appear
/// in settings and metrics.
public enum ProviderMethod: String, CaseIterable, Sendable, Hashable {
    case searchNearby, searchText, details, photo
}

extension PriceClass {
    /// The method whose calls have this price.
    public var method: ProviderMethod {
        switch self {
        case .nearbySearchPro, .nearbySearchEnterprise, .legacyNearbySearch, .hotpepper: .searchNearby
        case .textSearchIDsOnly, .textSearchPro, .textSearchEnterprise: .searchText
        case .placeDetailsIDsOnly, .placeDetailsEssentials, .placeDetailsPro, .placeDetailsEnterprise,
            .legacyPlaceDetails:
            .details
        case .placeDetailsPhotos, .legacyPlacePhoto: .photo
        }
    }
}
