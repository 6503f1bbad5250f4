public import Basics

/// The outcome of one request. Each request has exactly one.
public struct SearchOutcome: Sendable, Hashable {
    /// The content of a success.
    public struct Result: Sendable, Hashable {
        /// The credits that must be shown with the data, unchanged; may be HTML.
        public var attributions: [String]
        /// The places in the provider's order: one place for details, none for a photo.
        public var places: Places
        /// Present for a search.
        public var search: Search?
        /// The URL of the requested picture. It is short-lived.
        public var photoURL: String?
        /// The total number of places that the provider has for the search; `nil` if it reported none.
        public var totalAvailable: Int?
        /// The `pageToken` for the next page; `nil` if there is none.
        public var nextPageToken: String?
    }

    /// The search as the provider ran it.
    public struct Search: Sendable, Hashable {
        /// The category that was searched for.
        public var category: String
        /// The centre of the search.
        public var location: Coordinate
        /// The radius in metres, after the provider's rounding.
        public var radiusMeters: Double
        /// The request's `categories`, of which `category` is the first; empty if it had none.
        public var categories: [String]

        public init(category: String, location: Coordinate, radiusMeters: Double, categories: [String] = []) {
            self.category = category
            (self.location, self.radiusMeters, self.categories) = (location, radiusMeters, categories)
        }
    }

    public var requestID: String
    public var operation: SearchOperation
    /// The provider that answered or failed; `nil` if none was called.
    public var provider: ProviderID?
    /// All providers that were tried, in order; more than one after a fallback.
    public var triedProviders: [ProviderID]
    public var sessionID: String?
    @Boxed public var result: Swift.Result<Result, SearchError>
    /// The number of calls made for this request; 0 if no provider was called, or if another request's call was shared.
    public var attempts: Int
    /// The time spent waiting for providers, over all attempts.
    public var upstream: Duration

    /// The code of the failure; `nil` for a success. Copies nothing of the result.
    public var failure: SearchError.Code? {
        if case .box(.failure(let error)) = _result { error.code } else { nil }
    }

    /// Passes the result to one of the closures. Copies nothing of it.
    public func readResult(_ read: (Result) -> Void, orFailure readFailure: (SearchError) -> Void) {
        switch _result {
        case .box(.success(let result)): read(result)
        case .box(.failure(let error)): readFailure(error)
        }
    }
}

extension SearchOutcome.Result {
    // In an extension for the same reason as the next one.
    public init(
        places: Places = [], photoURL: String? = nil, totalAvailable: Int? = nil, nextPageToken: String? = nil,
        attributions: [String] = [], search: SearchOutcome.Search? = nil
    ) {
        self.init(
            attributions: attributions, places: places, search: search, photoURL: photoURL,
            totalAvailable: totalAvailable, nextPageToken: nextPageToken)
    }
}

extension SearchOutcome {
    // In an extension, where it can call the implicit initializer. Swift 6.3 copies the whole value in an explicit one
    // that is part of the declaration.
    public init(
        requestID: String, operation: SearchOperation, provider: ProviderID? = nil,
        triedProviders: [ProviderID] = [], sessionID: String? = nil,
        result: Swift.Result<Result, SearchError>, upstream: Duration = .zero, attempts: Int = 0
    ) {
        self.init(
            requestID: requestID, operation: operation, provider: provider, triedProviders: triedProviders,
            sessionID: sessionID, result: result, attempts: attempts, upstream: upstream)
    }

    /// Makes the outcome of a request without a provider's answer, because none was called or because its answer does not count.
    public init(of request: borrowing SearchRequest, failedWith error: SearchError) {
        self.init(
            requestID: request.requestID, operation: request.operation, provider: request.provider.named,
            triedProviders: [], sessionID: request.sessionID, result: .failure(error), attempts: 0, upstream: .zero)
    }
}
