public import LocationSearch
public import Resilience

/// Asks providers for places; deadline, limits, retries and breaker are its business. Called concurrently.
public protocol SearchWorking: Sendable {
    /// - Parameter note: told of the first call.
    func report(on addressed: AddressedRequest, before deadline: Deadline, note: CallNote?) async -> SearchReport
}

/// The use case: chooses who may serve a request, has the worker ask, and has the presenter word what came of it.
public struct SearchInteractor: Sendable {
    private let selection: ProviderSelection
    @usableFromInline let worker: any SearchWorking
    @usableFromInline let presenter = SearchPresenter()

    public init(selection: ProviderSelection, worker: any SearchWorking) {
        self.selection = selection
        self.worker = worker
    }

    /// Never throws: a failure is an outcome too, so that each request has exactly one.
    /// - Parameter request: validated.
    /// - Parameter lifetime: until when the request is of use; `nil` where only the deadline counts.
    @inlinable
    @inline(__always)
    public func run(
        _ request: SearchRequest, before deadline: Deadline, lifetime: RequestLifetime? = nil, note: CallNote? = nil
    ) async -> SearchOutcome {
        switch address(request, lifetime: lifetime) {
        case .success(let addressed):
            var report = await worker.report(on: addressed, before: deadline, note: note)
            return presenter.present(&report, for: request)
        case .failure(let error):
            return presenter.present(error, for: request)
        }
    }

    /// Chooses who may serve a request. Out of line, because its locals would enlarge the frame that waits.
    @usableFromInline
    @inline(never)
    func address(
        _ request: SearchRequest, lifetime: RequestLifetime?
    ) -> Result<AddressedRequest, SearchError> {
        do throws(SearchError) {
            let addressed = try request.addressedToProviders()
            return .success(
                AddressedRequest(addressed, to: try selection.candidates(for: addressed), lifetime: lifetime))
        } catch {
            return .failure(error)
        }
    }
}
