/// What a request wants to know.
package enum SearchOperation: String, CaseIterable, Sendable, Hashable {
    /// Places around a position.
    case search
    /// All that the provider knows of one place.
    case details
    /// The URL of a picture of one place.
    case photo
}

/// One request, as its producer meant it; defaults of the contract are filled in.
package struct SearchRequest: Sendable, Hashable {
    /// 1...128 characters.
    package var requestID: String
    package var operation: SearchOperation
    package var provider: ProviderChoice
    /// `restaurant`, `hospital` or a type of the provider's own. 1...64 characters.
    package var category: String
    /// Where to search. Required for a search, `nil` otherwise.
    package var location: Coordinate?
    /// Metres, 1...50,000.
    package var radiusMeters: Double
    /// 1...256 characters.
    package var keyword: String?
    /// BCP 47, up to 35 characters.
    package var language: String?
    /// `true`: only places open now. `nil` and `false` do not filter.
    package var openNow: Bool?
    /// Most places wanted, 1...100.
    package var limit: Int
    /// From `nextPageToken` of an earlier result of the same provider. 1...4096 characters.
    package var pageToken: String?
    /// Names the place of details and photo. 1...512 characters.
    package var placeID: String?
    /// A newer search of the same session supersedes an older one. 1...128 characters.
    package var sessionID: String?
    /// The time the request allows, 1 ms...60 s; `nil`: the worker's default.
    package var timeout: Duration?

    package init(
        requestID: String, operation: SearchOperation = .search, provider: ProviderChoice = .auto,
        category: String = "restaurant", location: Coordinate? = nil, radiusMeters: Double = 1500,
        keyword: String? = nil, language: String? = nil, openNow: Bool? = nil, limit: Int = 20,
        pageToken: String? = nil, placeID: String? = nil, sessionID: String? = nil, timeout: Duration? = nil
    ) {
        self.requestID = requestID
        self.operation = operation
        self.provider = provider
        self.category = category
        self.location = location
        self.radiusMeters = radiusMeters
        self.keyword = keyword
        self.language = language
        self.openNow = openNow
        self.limit = limit
        self.pageToken = pageToken
        self.placeID = placeID
        self.sessionID = sessionID
        self.timeout = timeout
    }
}
