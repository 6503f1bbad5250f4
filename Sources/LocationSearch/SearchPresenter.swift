/// Words what came of a request for those who read outcomes. Pure.
public struct SearchPresenter: Sendable {
    public init() {}

    public func present(_ report: SearchReport, for request: SearchRequest) -> SearchOutcome {
        SearchOutcome(
            requestID: request.requestID, operation: request.operation, provider: report.provider,
            triedProviders: report.triedProviders, sessionID: request.sessionID,
            result: report.result.map { result(of: $0, for: request) },
            upstream: report.upstream, attempts: report.attempts)
    }

    private func result(of answer: ProviderAnswer, for request: SearchRequest) -> SearchOutcome.Result {
        var places = answer.places
        if places.count > request.limit { places.removeLast(places.count - request.limit) }
        var search: SearchOutcome.Search?
        if request.operation == .search, let centre = request.location {
            for index in places.indices {
                guard let location = places[index].location else { continue }
                places[index].distanceMeters = centre.distance(to: location)
            }
            search = SearchOutcome.Search(
                category: request.category, location: centre,
                radiusMeters: answer.radiusMeters ?? request.radiusMeters)
        }
        return SearchOutcome.Result(
            places: places, photoURL: answer.photoURL, totalAvailable: answer.totalAvailable,
            nextPageToken: answer.nextPageToken, attributions: answer.attributions, search: search)
    }
}
