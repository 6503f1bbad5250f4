public import LocationSearch

/// Makes outcomes from providers' answers. Pure.
public struct SearchPresenter: Sendable {
    public init() {}

    /// - Parameters:
    ///   - result: the answer is moved out, so that its places are completed in place and not in a copy.
    ///   - tried: the providers tried, in order; the last one gave the result.
    ///   - cost: the cost of the calls.
    public func present(
        _ result: inout Result<ProviderAnswer, SearchError>, of tried: [ProviderID], costing cost: CallCost,
        for request: SearchRequest
    ) -> SearchOutcome {
        let presented: Result<SearchOutcome.Result, SearchError> =
            switch result {
            case .success(let answer): .success(self.result(of: answer, in: &result, by: tried.last, for: request))
            case .failure(let error): .failure(error)
            }
        return SearchOutcome(
            requestID: request.requestID, operation: request.operation, provider: tried.last, triedProviders: tried,
            sessionID: request.sessionID, result: presented, upstream: cost.upstream, attempts: cost.attempts)
    }

    @inline(__always)
    private func result(
        of answer: ProviderAnswer, in result: inout Result<ProviderAnswer, SearchError>, by provider: ProviderID?,
        for request: SearchRequest
    ) -> SearchOutcome.Result {
        var places = answer.places
        let (photoURL, total, ownToken) = (answer.photoURL, answer.totalAvailable, answer.nextPageToken)
        let (attributions, radius) = (answer.attributions, answer.radiusMeters)
        // Releases the answer, so that only `places` refers to its places.
        result = .failure(.timedOut)

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
        if let provider, let ownToken {
            nextPageToken = PageToken(ownToken, of: provider, for: request).text
        }
        return SearchOutcome.Result(
            places: places, photoURL: photoURL, totalAvailable: total, nextPageToken: nextPageToken,
            attributions: attributions, search: search)
    }
}
