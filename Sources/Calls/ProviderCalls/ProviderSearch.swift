import Basics
import LocationSearch
import Resilience

/// One request's way through the providers that may serve it, all within one deadline. Belongs to one `SearchWorker`.
final class ProviderSearch {
    let addressed: AddressedRequest
    let deadline: Deadline
    let completion: @Sendable (SearchReport) -> Void
    /// The number of this search among those of its worker.
    var number = 0
    private(set) var tried: [ProviderID] = []
    /// What the calls to those have cost that have failed.
    var spent = CallCost()
    /// What the search waits for now.
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

    /// True once there is no candidate left behind the one that is asked now.
    var isAtLast: Bool { tried.count == addressed.candidates.count }

    func takeCandidate() -> any PlaceService {
        let service = addressed.candidates[tried.count]
        tried.append(service.id)
        return service
    }
}
