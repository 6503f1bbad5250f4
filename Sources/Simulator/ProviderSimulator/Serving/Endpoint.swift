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

/// A method of one of the APIs, with its name in the statistics.
enum Endpoint: String, Sendable {
    case gourmet
    case legacyNearby, legacyDetails, legacyPhoto
    case placesNearby = "searchNearby", placesText = "searchText", placesDetails = "details", placesPhoto = "photo"
    /// A path of no provider.
    case unknown

    /// The API of the method; `nil` for an unknown path.
    var api: ProviderAPI? {
        switch self {
        case .gourmet: .hotpepper
        case .legacyNearby, .legacyDetails, .legacyPhoto: .googlePlacesLegacy
        case .placesNearby, .placesText, .placesDetails, .placesPhoto: .googlePlaces
        case .unknown: nil
        }
    }

    /// Returns the method for a path without its query.
    init(_ path: Substring) {
        switch path {
        case "/hotpepper/gourmet/v1/": self = .gourmet
        case "/maps/api/place/nearbysearch/json": self = .legacyNearby
        case "/maps/api/place/details/json": self = .legacyDetails
        case "/maps/api/place/photo": self = .legacyPhoto
        case "/v1/places:searchNearby": self = .placesNearby
        case "/v1/places:searchText": self = .placesText
        case _ where path.hasPrefix("/v1/places/"): self = path.hasSuffix("/media") ? .placesPhoto : .placesDetails
        default: self = .unknown
        }
    }
}
