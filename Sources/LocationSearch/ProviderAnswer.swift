/// What a provider gave for one request, in the domain's terms. A search or details fills `places`, a photo `photoURL`.
package struct ProviderAnswer: Sendable, Hashable {
    package var places: [Place]
    /// An https URL that needs no key. Short-lived.
    package var photoURL: String?
    /// How many the provider has in all, where it says so.
    package var totalAvailable: Int?
    /// For `pageToken` of the next request; `nil` on the last page.
    package var nextPageToken: String?
    /// Credits that the provider's terms ask to show with the data; may be HTML, must be shown unchanged.
    package var attributions: [String]
    /// Metres. The radius the provider really searched, when it differs from the request's.
    package var radiusMeters: Double?
    /// Entries of the provider's list that could not be read and were left out.
    package var unreadablePlaces: Int

    package init(
        places: [Place] = [], photoURL: String? = nil, totalAvailable: Int? = nil, nextPageToken: String? = nil,
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
