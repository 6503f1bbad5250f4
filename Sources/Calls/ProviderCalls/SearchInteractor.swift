public import Basics
public import LocationSearch

/// Asks providers for places, within deadline, limits, retries and breaker. To be called on the executor of the worker.
public protocol SearchReporting: Sendable {
    /// Asks the request's providers.
    /// - Parameter completion: called once on that executor, maybe before this returns, with what came of it.
    /// - Returns: the number by which the search can be cancelled.
    func begin(
        _ addressed: AddressedRequest, before deadline: Deadline,
        then completion: @escaping @Sendable (SearchReport) -> Void
    ) -> Int

    /// Ends a search early. Its completion is called in a later job. After the end this has no effect.
    func cancel(_ search: Int)
}

/// The use case: chooses the providers for a request, has the worker ask them, and has the presenter word the outcome.
public struct SearchInteractor: Sendable {
    private let selection: ProviderSelection
    private let worker: any SearchReporting
    private let presenter = SearchPresenter()

    public init(selection: ProviderSelection, worker: any SearchReporting) {
        self.selection = selection
        self.worker = worker
    }

    /// Returns the providers that a request would be asked of, best first; empty where none can serve it.
    public func providers(for request: SearchRequest) -> [ProviderID] {
        let candidates = try? selection.candidates(for: request.addressedToProviders())
        return candidates?.map(\.id) ?? []
    }

    /// The configured providers.
    public var configuredProviders: [ProviderID] { selection.configured }

    /// Chooses the providers of a request, and has them asked.
    /// - Parameters:
    ///   - request: validated.
    ///   - lifetime: until when the request is of use; `nil` where only the deadline counts.
    ///   - context: notes the calls for the request.
    ///   - completion: called once on the worker's executor, maybe before this returns, unless this throws.
    /// - Returns: the number by which the search can be cancelled.
    /// - Throws: why no provider can be asked.
    public func begin(
        _ request: SearchRequest, before deadline: Deadline, lifetime: RequestLifetime? = nil,
        context: RequestContext? = nil, then completion: @escaping @Sendable (SearchReport) -> Void
    ) throws(SearchError) -> Int {
        let addressed = try request.addressedToProviders()
        return worker.begin(
            AddressedRequest(
                addressed, to: try selection.candidates(for: addressed), lifetime: lifetime, context: context),
            before: deadline, then: completion)
    }

    /// Ends a search early. Its completion is called in a later job. After the end this has no effect.
    public func cancel(_ search: Int) { worker.cancel(search) }

    /// Words what came of a request.
    public func outcome(of report: inout SearchReport, for request: SearchRequest) -> SearchOutcome {
        presenter.present(&report, for: request)
    }
}
