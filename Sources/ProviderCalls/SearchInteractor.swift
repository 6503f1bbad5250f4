public import LocationSearch
public import Resilience

/// Asks providers for places, within deadline, limits, retries and breaker. Called concurrently.
public protocol SearchReporting: Sendable {
    /// Returns what came of asking the request's providers. Never throws, because a failure is reported too.
    func report(on addressed: AddressedRequest, before deadline: Deadline) async -> SearchReport
}

/// The use case: chooses the providers for a request, has the worker ask them, and has the presenter word the outcome.
public struct SearchInteractor: Sendable {
    private let selection: ProviderSelection
    @usableFromInline let worker: any SearchReporting
    @usableFromInline let presenter = SearchPresenter()

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

    /// Never throws: a failure is an outcome too, so that each request has exactly one.
    /// - Parameter request: validated.
    /// - Parameter lifetime: until when the request is of use; `nil` where only the deadline counts.
    /// - Parameter context: notes the calls for the request.
    @inlinable
    @inline(__always)
    public func run(
        _ request: SearchRequest, before deadline: Deadline, lifetime: RequestLifetime? = nil,
        context: RequestContext? = nil
    ) async -> SearchOutcome {
        switch address(request, lifetime: lifetime, context: context) {
        case .success(let addressed):
            var report = await worker.report(on: addressed, before: deadline)
            return presenter.present(&report, for: request)
        case .failure(let error):
            return SearchOutcome(of: request, failedWith: error)
        }
    }

    /// Chooses the providers for a request. Out of line, because its locals would enlarge the frame that waits.
    @usableFromInline
    @inline(never)
    func address(
        _ request: SearchRequest, lifetime: RequestLifetime?, context: RequestContext?
    ) -> Result<AddressedRequest, SearchError> {
        do throws(SearchError) {
            let addressed = try request.addressedToProviders()
            return .success(
                AddressedRequest(
                    addressed, to: try selection.candidates(for: addressed), lifetime: lifetime, context: context))
        } catch {
            return .failure(error)
        }
    }
}
