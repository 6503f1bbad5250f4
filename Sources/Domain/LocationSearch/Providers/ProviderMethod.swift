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
