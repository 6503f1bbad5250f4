import LocationSearch

/// The field masks of calls to Google's Places API (New), and the price classes that they determine.
struct GooglePlacesMasks: Sendable, Hashable {
    let nearbyMask: String
    let textMask: String
    let detailsMask: String
    let nearbyClass: PriceClass
    let textClass: PriceClass
    let detailsClass: PriceClass

    /// - Parameter parts: what a request adds to the fields of the setting.
    init(search: [GooglePlacesField], details: [GooglePlacesField], including parts: Set<SearchOptions.Part>) {
        let (searchPaths, detailsPaths) = (Self.paths(search, parts), Self.paths(details, parts))
        nearbyMask = searchPaths.map { "places.\($0)" }.joined(separator: ",")
        textMask = nearbyMask + ",nextPageToken"
        detailsMask = detailsPaths.joined(separator: ",")

        let added = parts.map(\.field)
        nearbyClass =
            (search + added).map(\.nearbySearchTier).max() == .enterprise ? .nearbySearchEnterprise : .nearbySearchPro
        textClass =
            switch (search + added).map(\.textSearchTier).max() {
            case .enterprise: .textSearchEnterprise
            case .essentials, .pro: .textSearchPro
            case .idsOnly, nil: .textSearchIDsOnly
            }
        detailsClass =
            switch (details + added).map(\.tier).max() {
            case .enterprise: .placeDetailsEnterprise
            case .pro: .placeDetailsPro
            case .essentials: .placeDetailsEssentials
            case .idsOnly, nil: .placeDetailsIDsOnly
            }
    }

    private static func paths(_ fields: [GooglePlacesField], _ parts: Set<SearchOptions.Part>) -> [String] {
        var paths = fields.map(\.path)
        if parts.contains(.businessStatus), !fields.contains(.businessStatus) { paths.append("businessStatus") }
        if parts.contains(.openingHours) { paths.append("regularOpeningHours.weekdayDescriptions") }
        return paths
    }
}

extension SearchOptions.Part {
    /// The field that determines the price of this part.
    fileprivate var field: GooglePlacesField { self == .businessStatus ? .businessStatus : .regularOpeningHours }
}
