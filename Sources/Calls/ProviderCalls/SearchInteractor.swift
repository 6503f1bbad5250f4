public import Basics
public import LocationSearch

/// Calls providers for places, within deadline, limits, retries and breaker. Must be called on the worker's executor.
public protocol SearchReporting: AnyObject, Sendable {
    /// Starts the search at the request's providers.
    /// - Parameter completion: called once on that executor with the result, possibly before this returns.
    /// - Returns: the number by which the search can be cancelled.
    func begin(
        _ addressed: AddressedRequest, before deadline: Deadline,
        then completion: @escaping @Sendable (SearchReport) -> Void
    ) -> Int

    /// Ends a search early. Its completion is called in a later job. Has no effect after the end.
    func cancel(_ search: Int)
}

/// A search that has begun.
public struct RunningSearch: Sendable {
    private let worker: any SearchReporting
    private let number: Int

    init(_ number: Int, of worker: any SearchReporting) {
        self.number = number
        self.worker = worker
    }

    /// Ends the search early. Its completion is called in a later job. Has no effect after the end.
    public func cancel() { worker.cancel(number) }
}

/// The use case: chooses the providers for a request, passes it to the worker, and has the presenter make the outcome.
public struct SearchInteractor: Sendable {
    private let selection: ProviderSelection
    private let worker: any SearchReporting
    private let presenter = SearchPresenter()

    public init(selection: ProviderSelection, worker: any SearchReporting) {
        self.selection = selection
        self.worker = worker
    }

    /// Returns the candidate providers of a request, best first; empty if none can serve it.
    public func candidates(for request: SearchRequest) -> [any PlaceService] {
        (try? selection.candidates(for: request.addressedToProviders())) ?? []
    }

    /// The configured providers.
    public var configuredProviders: [ProviderID] { selection.configured }

    /// Chooses the providers of a request, and starts the search.
    /// - Parameters:
    ///   - request: a validated request.
    ///   - candidates: the result of `candidates(for:)`, if the request has waited; empty: they are chosen now.
    ///   - lifetime: the times after which the request is useless; `nil` if only the deadline counts.
    ///   - context: records the calls for the request.
    ///   - completion: called once on the worker's executor, possibly before this returns; not called if this throws.
    /// - Returns: the search, which can be cancelled.
    /// - Throws: the reason why no provider can serve the request.
    public func begin(
        _ request: SearchRequest, at candidates: [any PlaceService] = [], before deadline: Deadline,
        lifetime: RequestLifetime? = nil, context: RequestContext? = nil,
        then completion: @escaping @Sendable (SearchReport) -> Void
    ) throws(SearchError) -> RunningSearch {
        let addressed = try request.addressedToProviders()
        let services = candidates.isEmpty ? try selection.candidates(for: addressed) : candidates
        let number = worker.begin(
            AddressedRequest(addressed, to: services, lifetime: lifetime, context: context), before: deadline,
            then: completion)
        return RunningSearch(number, of: worker)
    }

    /// Makes the outcome of a request from the report.
    public func outcome(of report: inout SearchReport, for request: SearchRequest) -> SearchOutcome {
        presenter.present(&report, for: request)
    }
}
