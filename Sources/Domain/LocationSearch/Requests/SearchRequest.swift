/// The operation that a request asks for.
public enum SearchOperation: String, CaseIterable, Sendable, Hashable {
    /// Places around a position.
    case search
    /// Everything that the provider knows about one place.
    case details
    /// The URL of a picture of one place.
    case photo
}

/// One request, with the contract's defaults filled in.
public struct SearchRequest: Sendable, Hashable {
    /// The number of characters that a page token may have.
    package static let pageTokenLength = 1...4096

    /// The category of a request without one.
    @inlinable public static var defaultCategory: String { "restaurant" }
    /// The radius of a request without one, in metres.
    @inlinable public static var defaultRadiusMeters: Double { 1500 }
    /// The maximum number of places for a request without a limit.
    @inlinable public static var defaultLimit: Int { 20 }

    /// 1...128 characters.
    public var requestID: String
    /// The operation: a search for places, the details of one, or its picture.
    public var operation: SearchOperation
    public var provider: ProviderChoice
    /// `restaurant`, `hospital` or a provider's own type. 1...64 characters. Not used for a search if `options` has categories.
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
    /// The maximum number of places, 1...100.
    public var limit: Int
    /// The `nextPageToken` of an earlier result of the same search. `pageTokenLength` characters.
    public var pageToken: String?
    /// The place of a details or photo request. 1...512 characters.
    public var placeID: String?
    /// A newer search of the same session supersedes an older one. 1...128 characters.
    public var sessionID: String?
    /// The time limit of the request, 1 ms...60 s; `nil`: the worker's default.
    public var timeout: Duration?
    /// `nil` for a request without options, as most are.
    var optionsBox: SearchOptions.Box?
}

extension SearchRequest {
    // In an extension, where it can call the implicit initializer. Swift 6.3 copies the whole value in an explicit one
    // that is part of the declaration.
    /// Makes a request; omitted values have the contract's defaults. Check it with `validated()` before it is sent.
    public init(
        requestID: String, operation: SearchOperation = .search, provider: ProviderChoice = .auto,
        category: String = defaultCategory, location: Coordinate? = nil, radiusMeters: Double = defaultRadiusMeters,
        keyword: String? = nil, language: String? = nil, openNow: Bool? = nil, limit: Int = defaultLimit,
        pageToken: String? = nil, placeID: String? = nil, sessionID: String? = nil, timeout: Duration? = nil
    ) {
        self.init(
            requestID: requestID, operation: operation, provider: provider, category: category, location: location,
            radiusMeters: radiusMeters, keyword: keyword, language: language, openNow: openNow, limit: limit,
            pageToken: pageToken, placeID: placeID, sessionID: sessionID, timeout: timeout, optionsBox: nil)
    }

    /// The members that only some searches need.
    public var options: SearchOptions {
        get { optionsBox?.options ?? SearchOptions() }
        set { optionsBox = newValue == SearchOptions() ? nil : SearchOptions.Box(newValue) }
    }

    /// True if the request has any of `options`. Much cheaper than reading them.
    public var hasOptions: Bool { optionsBox != nil }

    /// The types of which each place must have one: `categories`, or else `category`. Never empty.
    public var wantedCategories: [String] { options.categories.isEmpty ? [category] : options.categories }
}
