public import LocationSearch

/// Makes outcomes from providers' answers. Pure.
public struct SearchPresenter: Sendable {
    public init() {}

    /// - Parameter report: its answer is moved out, so that places are completed in place and not in a copy.
    public func present(_ report: inout SearchReport, for request: SearchRequest) -> SearchOutcome {
        let result: Result<SearchOutcome.Result, SearchError>
        switch report.result {
        case .success(let answer): result = .success(self.result(of: answer, in: &report, for: request))
        case .failure(let error): result = .failure(error)
        }
        return SearchOutcome(
            requestID: request.requestID, operation: request.operation, provider: report.provider,
            triedProviders: report.triedProviders, sessionID: request.sessionID, result: result,
            upstream: report.upstream, attempts: report.attempts)
    }

    @inline(__always)
    private func result(
        of answer: ProviderAnswer, in report: inout SearchReport, for request: SearchRequest
    ) -> SearchOutcome.Result {
        var places = answer.places
        let (photoURL, total, ownToken) = (answer.photoURL, answer.totalAvailable, answer.nextPageToken)
        let (attributions, radius) = (answer.attributions, answer.radiusMeters)
        // Releases the answer, so that only `places` refers to its places.
        report.result = .failure(.timedOut)

        places.keepFirst(request.limit)
        var search: SearchOutcome.Search?
        if request.operation == .search, let centre = request.location {
            places.measureDistances(from: centre)
            search = SearchOutcome.Search(
                category: request.category, location: centre, radiusMeters: radius ?? request.radiusMeters,
                categories: request.hasOptions ? request.options.categories : [])
        }

        // The token in the request is not part of the search's identity, so it may still be there.
        var nextPageToken: String?
        if let provider = report.provider, let ownToken {
            nextPageToken = PageToken(ownToken, of: provider, for: request).text
        }
        return SearchOutcome.Result(
            places: places, photoURL: photoURL, totalAvailable: total, nextPageToken: nextPageToken,
            attributions: attributions, search: search)
    }
}

/// The result of a search: the answer or the failure, the provider that gave it, and the cost.
public struct SearchReport: Sendable, Hashable {
    public var result: Result<ProviderAnswer, SearchError>
    public var provider: ProviderID?
    public var triedProviders: [ProviderID]
    public var upstream: Duration
    public var attempts: Int
    /// The number of those attempts that were given up, and are counted as wasted.
    public var givenUp: Int

    public init(
        result: Result<ProviderAnswer, SearchError>, provider: ProviderID? = nil, triedProviders: [ProviderID] = [],
        upstream: Duration = .zero, attempts: Int = 0, givenUp: Int = 0
    ) {
        self.result = result
        self.provider = provider
        (self.triedProviders, self.upstream) = (triedProviders, upstream)
        (self.attempts, self.givenUp) = (attempts, givenUp)
    }
}
