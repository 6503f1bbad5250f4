public import LocationSearch

/// Words what came of a request for those who read outcomes. Pure.
public struct SearchPresenter: Sendable {
    public init() {}

    /// - Parameter report: its answer is taken out, so that its places are finished where they lie instead of in a copy.
    public func present(_ report: inout SearchReport, for request: SearchRequest) -> SearchOutcome {
        var answer: Result<ProviderAnswer, SearchError> = .failure(.timedOut)
        swap(&answer, &report.result)
        let result: Result<SearchOutcome.Result, SearchError> =
            switch consume answer {
            case .success(let answer): .success(self.result(of: answer, from: report.provider, for: request))
            case .failure(let error): .failure(error)
            }
        return SearchOutcome(
            requestID: request.requestID, operation: request.operation, provider: report.provider,
            triedProviders: report.triedProviders, sessionID: request.sessionID, result: result,
            upstream: report.upstream, attempts: report.attempts)
    }

    /// Words the end of a request for which nobody was asked, or whose answer no longer counts.
    public func present(_ error: SearchError, for request: SearchRequest) -> SearchOutcome {
        SearchOutcome(
            requestID: request.requestID, operation: request.operation, provider: request.provider.named,
            sessionID: request.sessionID, result: .failure(error))
    }

    private func result(
        of answer: consuming ProviderAnswer, from provider: ProviderID?, for request: SearchRequest
    ) -> SearchOutcome.Result {
        var places = Places()
        swap(&places, &answer.places)
        places.keepFirst(request.limit)
        var search: SearchOutcome.Search?
        if request.operation == .search, let centre = request.location {
            places.measureDistances(from: centre)
            search = SearchOutcome.Search(
                category: request.category, location: centre,
                radiusMeters: answer.radiusMeters ?? request.radiusMeters)
        }

        // The request still has the token that it came with, which is no part of what identifies a search.
        var nextPageToken: String?
        if let provider, let ownToken = answer.nextPageToken {
            nextPageToken = PageToken(ownToken, of: provider, for: request).text
        }
        return SearchOutcome.Result(
            places: places, photoURL: answer.photoURL, totalAvailable: answer.totalAvailable,
            nextPageToken: nextPageToken, attributions: answer.attributions, search: search)
    }
}

extension SearchError {
    /// The outcome of a search whose session has moved on.
    public static let superseded = SearchError(.superseded, "a newer request of the same session arrived")

    /// The outcome of a search whose result the results topic refuses for its size.
    public static let resultTooLarge = SearchError(
        .badResponse, "the result is larger than the results topic takes; ask for less (limit)")
}
