/// What became of one request; each request has exactly one.
package struct SearchOutcome: Sendable, Hashable {
    /// What a success shows.
    package struct Result: Sendable, Hashable {
        package var places: [Place]
        package var photoURL: String?
        package var totalAvailable: Int?
        package var nextPageToken: String?
        package var attributions: [String]
        /// Present for a search.
        package var search: Search?

        package init(
            places: [Place] = [], photoURL: String? = nil, totalAvailable: Int? = nil, nextPageToken: String? = nil,
            attributions: [String] = [], search: Search? = nil
        ) {
            self.places = places
            self.photoURL = photoURL
            self.totalAvailable = totalAvailable
            self.nextPageToken = nextPageToken
            self.attributions = attributions
            self.search = search
        }
    }

    /// What was really searched.
    package struct Search: Sendable, Hashable {
        package var category: String
        package var location: Coordinate
        /// Metres, after the provider's rounding.
        package var radiusMeters: Double

        package init(category: String, location: Coordinate, radiusMeters: Double) {
            self.category = category
            self.location = location
            self.radiusMeters = radiusMeters
        }
    }

    package var requestID: String
    package var operation: SearchOperation
    /// Who answered or failed; `nil` when nobody was asked.
    package var provider: ProviderID?
    /// Every provider that was asked, in order; more than one after a fallback.
    package var triedProviders: [ProviderID]
    package var sessionID: String?
    package var result: Swift.Result<Result, SearchError>
    /// Time spent waiting for providers, all attempts together.
    package var upstream: Duration
    /// Calls made for this request; 0 when nobody was asked, or when another request's call was shared.
    package var attempts: Int

    package init(
        requestID: String, operation: SearchOperation, provider: ProviderID? = nil,
        triedProviders: [ProviderID] = [], sessionID: String? = nil,
        result: Swift.Result<Result, SearchError>, upstream: Duration = .zero, attempts: Int = 0
    ) {
        self.requestID = requestID
        self.operation = operation
        self.provider = provider
        self.triedProviders = triedProviders
        self.sessionID = sessionID
        self.result = result
        self.upstream = upstream
        self.attempts = attempts
    }
}
