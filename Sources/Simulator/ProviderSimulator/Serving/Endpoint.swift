/// The simulated APIs.
package enum ProviderAPI: Int, CaseIterable, Sendable {
    case hotpepper
    /// Google's older API, below `/maps/api/place/`.
    case googlePlacesLegacy
    /// Google's newer API, "Places API (New)", below `/v1/places`.
    case googlePlaces

    /// The API's name in events (`provider`).
    var name: String {
        switch self {
        case .hotpepper: "hotpepper"
        case .googlePlacesLegacy: "google-places-legacy"
        case .googlePlaces: "google-places"
        }
    }
}

/// A method of one of the APIs.
enum Endpoint: Int, CaseIterable, Sendable {
    case gourmet, shop, master
    case legacyNearby, legacyText, legacyFind, legacyDetails, legacyPhoto
    case placesNearby, placesText, placesDetails, placesPhoto
    /// A path of no provider.
    case unknown

    /// The API of the method; `nil` for an unknown path.
    var api: ProviderAPI? {
        switch self {
        case .gourmet, .shop, .master: .hotpepper
        case .legacyNearby, .legacyText, .legacyFind, .legacyDetails, .legacyPhoto: .googlePlacesLegacy
        case .placesNearby, .placesText, .placesDetails, .placesPhoto: .googlePlaces
        case .unknown: nil
        }
    }

    /// The method's name in statistics and in the log.
    var name: String {
        switch self {
        case .gourmet: "gourmet"
        case .shop: "shop"
        case .master: "master"
        case .legacyNearby, .placesNearby: "nearby"
        case .legacyText, .placesText: "text"
        case .legacyFind: "find"
        case .legacyDetails, .placesDetails: "details"
        case .legacyPhoto, .placesPhoto: "photo"
        case .unknown: "unknown"
        }
    }

    /// Returns the method for a path without its query.
    init(_ path: Substring) {
        switch path {
        case "/hotpepper/gourmet/v1/", "/hotpepper/gourmet/v1": self = .gourmet
        case "/hotpepper/shop/v1/", "/hotpepper/shop/v1": self = .shop

        case "/maps/api/place/nearbysearch/json": self = .legacyNearby
        case "/maps/api/place/textsearch/json": self = .legacyText
        case "/maps/api/place/findplacefromtext/json": self = .legacyFind
        case "/maps/api/place/details/json": self = .legacyDetails
        case "/maps/api/place/photo": self = .legacyPhoto

        case "/v1/places:searchNearby": self = .placesNearby
        case "/v1/places:searchText": self = .placesText

        default:
            if path.hasPrefix("/v1/places/") {
                self = path.hasSuffix("/media") ? .placesPhoto : .placesDetails
            } else if path.hasPrefix("/hotpepper/"), path.hasSuffix("/v1/") || path.hasSuffix("/v1") {
                self = .master
            } else {
                self = .unknown
            }
        }
    }
}
