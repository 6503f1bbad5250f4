/// A provider's answer to one request, in the domain's terms. A search or a details request sets `places`, a photo request `photoURL`.
public struct ProviderAnswer: Sendable, Hashable {
    public var places: Places
    /// An https URL that needs no key. Short-lived.
    public var photoURL: String?
    /// The total number of places that the provider has, if reported.
    public var totalAvailable: Int?
    /// The provider's own token for the next page, which outcomes carry inside the worker's token; `nil` on the last page.
    public var nextPageToken: String?
    /// Credits that the provider's terms require with the data; may be HTML, must be shown unchanged.
    public var attributions: [String]
    /// The radius that the provider really searched, in metres, if it differs from the request's.
    public var radiusMeters: Double?
    /// The number of unreadable entries of the provider's list, which were left out.
    public var unreadablePlaces: Int

    public init(
        places: Places = [], photoURL: String? = nil, totalAvailable: Int? = nil, nextPageToken: String? = nil,
        attributions: [String] = [], radiusMeters: Double? = nil, unreadablePlaces: Int = 0
    ) {
        self.places = places
        self.photoURL = photoURL
        self.totalAvailable = totalAvailable
        self.nextPageToken = nextPageToken
        self.attributions = attributions
        self.radiusMeters = radiusMeters
        self.unreadablePlaces = unreadablePlaces
    }
}
