/// The operation that a request asks for.
public enum SearchOperation: String, CaseIterable, Sendable, Hashable {
    /// Places around a position.
    case search
    /// All that the provider knows of one place.
    case details
    /// The URL of a picture of one place.
    case photo
}

/// One request, as its producer meant it; defaults of the contract are filled in.
public struct SearchRequest: Sendable, Hashable {
    /// The number of characters that a page token may have.
    package static let pageTokenLength = 1...4096

    /// The category of a request that names none.
    @inlinable public static var defaultCategory: String { "restaurant" }
    /// The radius of a request that names none, in metres.
    @inlinable public static var defaultRadiusMeters: Double { 1500 }
    /// The most places that a request wants which names no limit.
    @inlinable public static var defaultLimit: Int { 20 }

    /// 1...128 characters.
    public var requestID: String
    /// The operation: a search for places, the details of one, or its picture.
    public var operation: SearchOperation
    /// The provider to be asked.
    public var provider: ProviderChoice
    /// `restaurant`, `hospital` or a type of the provider's own. 1...64 characters.
    public var category: String
    /// The position to search around. Required for a search, `nil` otherwise.
    public var location: Coordinate?
    /// Metres, 1...50,000.
    public var radiusMeters: Double
    /// 1...256 characters.
    public var keyword: String?
    /// BCP 47, up to 35 characters.
    public var language: String?
    /// `true`: only places open now. `nil` and `false` do not filter.
    public var openNow: Bool?
    /// Most places wanted, 1...100.
    public var limit: Int
    /// The `nextPageToken` of an earlier result of the same search. `pageTokenLength` characters.
    public var pageToken: String?
    /// Names the place of details and photo. 1...512 characters.
    public var placeID: String?
    /// A newer search of the same session supersedes an older one. 1...128 characters.
    public var sessionID: String?
    /// The time the request allows, 1 ms...60 s; `nil`: the worker's default.
    public var timeout: Duration?

    /// A request; what is left out has the contract's default. Check it with `validated()` before it is sent.
    public init(
        requestID: String, operation: SearchOperation = .search, provider: ProviderChoice = .auto,
        category: String = defaultCategory, location: Coordinate? = nil, radiusMeters: Double = defaultRadiusMeters,
        keyword: String? = nil, language: String? = nil, openNow: Bool? = nil, limit: Int = defaultLimit,
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
