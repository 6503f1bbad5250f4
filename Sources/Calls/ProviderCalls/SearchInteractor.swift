public import LocationSearch

/// The use case: chooses the candidate providers of a request, and makes its search. Later, it makes the outcome from the
/// search's result.
///
/// Not `Sendable`: it belongs to the actor on which its worker runs.
public struct SearchInteractor {
    private let selection: ProviderSelection
    private let worker: any SearchExecutor
    private let presenter = SearchPresenter()

    public init(selection: ProviderSelection, worker: any SearchExecutor) {
        self.selection = selection
        self.worker = worker
    }

    /// Returns the candidate providers of a request, best first; empty if none can serve it.
    public func candidates(for request: SearchRequest) -> [any PlaceService] {
        (try? selection.candidates(for: request.addressedToProviders())) ?? []
    }

    /// The configured providers.
    public var configuredProviders: [ProviderID] { selection.configured }

    /// Makes the search for a request. Its `begin` starts it.
    /// - Parameters:
    ///   - request: a validated request.
    ///   - candidates: the result of `candidates(for:)`, if the request has waited; empty: they are chosen now.
    ///   - context: records the calls for the request.
    ///   - completion: called once with the result, possibly before `begin` returns.
    /// - Throws: the reason why no provider can serve the request.
    public func search(
        for request: SearchRequest, at candidates: [any PlaceService] = [], before deadlines: RequestDeadlines,
        context: RequestContext? = nil, then completion: @escaping (ProviderSearch) -> Void
    ) throws(SearchError) -> ProviderSearch {
        let addressed = try request.addressedToProviders()
        let services = candidates.isEmpty ? try selection.candidates(for: addressed) : candidates
        return ProviderSearch(
            addressed, at: services, by: worker, before: deadlines, context: context, then: completion)
    }

    /// Makes the outcome of a request from its search, which has ended.
    public func outcome(of search: ProviderSearch, for request: SearchRequest) -> SearchOutcome {
        var result = search.takeResult()
        return presenter.present(&result, of: search.tried, costing: search.cost, for: request)
    }
}
