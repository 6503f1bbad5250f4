public import Resilience

/// Asks providers for places; deadline, limits, retries and breaker are its business. Called concurrently.
public protocol SearchWorking: Sendable {
    /// - Parameter candidates: at least one, best first. The next is asked when one fails for the moment.
    /// - Parameter note: told of the first call.
    func report(
        on request: SearchRequest, from candidates: [any PlaceService], before deadline: Deadline, note: CallNote?
    ) async -> SearchReport
}

/// The use case: chooses who may serve a request, has the worker ask, and has the presenter word what came of it.
public struct SearchInteractor: Sendable {
    private let selection: ProviderSelection
    private let worker: any SearchWorking
    private let presenter = SearchPresenter()

    public init(selection: ProviderSelection, worker: any SearchWorking) {
        self.selection = selection
        self.worker = worker
    }

    /// Never throws: a failure is an outcome too, so that each request has exactly one.
    /// - Parameter request: validated.
    public func run(_ request: SearchRequest, before deadline: Deadline, note: CallNote? = nil) async -> SearchOutcome {
        do throws(SearchError) {
            let addressed = try request.addressedToProviders()
            let candidates = try selection.candidates(for: addressed)

            return presenter.present(
                await worker.report(on: addressed, from: candidates, before: deadline, note: note), for: request)
        } catch {
            return presenter.present(
                SearchReport(result: .failure(error), provider: request.provider.named), for: request)
        }
    }
}
