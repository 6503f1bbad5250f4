/// The three providers.
enum ProviderAPI: Int, CaseIterable, Sendable {
    case hotpepper, legacy, new

    /// As in the events' `provider`.
    var name: String {
        switch self {
        case .hotpepper: "hotpepper"
        case .legacy: "google-places-legacy"
        case .new: "google-places"
        }
    }
}

/// What can be called.
enum Endpoint: Int, CaseIterable, Sendable {
    case gourmet, shop, master
    case legacyNearby, legacyText, legacyFind, legacyDetails, legacyPhoto
    case newNearby, newText, newDetails, newPhoto
    /// No provider has such a path.
    case unknown

    var api: ProviderAPI? {
        switch self {
        case .gourmet, .shop, .master: .hotpepper
        case .legacyNearby, .legacyText, .legacyFind, .legacyDetails, .legacyPhoto: .legacy
        case .newNearby, .newText, .newDetails, .newPhoto: .new
        case .unknown: nil
        }
    }

    var name: String {
        switch self {
        case .gourmet: "gourmet"
        case .shop: "shop"
        case .master: "master"
        case .legacyNearby, .newNearby: "nearby"
        case .legacyText, .newText: "text"
        case .legacyFind: "find"
        case .legacyDetails, .newDetails: "details"
        case .legacyPhoto, .newPhoto: "photo"
        case .unknown: "unknown"
        }
    }

    /// - Parameter path: without query.
    init(_ path: Substring) {
        switch path {
        case "/hotpepper/gourmet/v1/", "/hotpepper/gourmet/v1": self = .gourmet
        case "/hotpepper/shop/v1/", "/hotpepper/shop/v1": self = .shop
        case "/maps/api/place/nearbysearch/json": self = .legacyNearby
        case "/maps/api/place/textsearch/json": self = .legacyText
        case "/maps/api/place/findplacefromtext/json": self = .legacyFind
        case "/maps/api/place/details/json": self = .legacyDetails
        case "/maps/api/place/photo": self = .legacyPhoto
        case "/v1/places:searchNearby": self = .newNearby
        case "/v1/places:searchText": self = .newText
        default:
            if path.hasPrefix("/v1/places/") {
                self = path.hasSuffix("/media") ? .newPhoto : .newDetails
            } else if path.hasPrefix("/hotpepper/"), path.hasSuffix("/v1/") || path.hasSuffix("/v1") {
                self = .master
            } else {
                self = .unknown
            }
        }
    }
}
