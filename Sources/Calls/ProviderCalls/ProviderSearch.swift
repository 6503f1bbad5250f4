import Basics
import LocationSearch
import Resilience

/// The search for one request's answer at its candidate providers, all within one deadline. Belongs to one `SearchWorker`.
final class ProviderSearch {
    let addressed: AddressedRequest
    let deadline: Deadline
    let completion: @Sendable (SearchReport) -> Void
    /// The number of this search in its worker.
    var number = 0
    private(set) var tried: [ProviderID] = []
    /// The cost of the calls to providers that have failed.
    var spent = CallCost()
    /// The current wait of the search.
    var wait: (any ProviderWait)?
    var isCancelled = false

    init(
        _ addressed: AddressedRequest, before deadline: Deadline,
        then completion: @escaping @Sendable (SearchReport) -> Void
    ) {
        self.addressed = addressed
        self.deadline = deadline
        self.completion = completion
    }

    /// True if no candidate is left after the current one.
    var isAtLast: Bool { tried.count == addressed.candidates.count }

    func takeCandidate() -> any PlaceService {
        let service = addressed.candidates[tried.count]
        tried.append(service.id)
        return service
    }
}

/// The wait of a request for one provider's answer.
protocol ProviderWait: AnyObject {
    /// Called once.
    func begin()
    /// Ends the wait. The result is delivered in a later job, not within this call. Has no effect after the end.
    func cancel()
}
