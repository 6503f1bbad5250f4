internal import Basics
internal import EventLoop
internal import LocationSearch
internal import ProviderCalls
internal import Resilience

/// The waiting requests with the same list of providers. Confined to its lane; not `Sendable`.
final class WaitingQueue<Request> {
    /// Empty for requests that need no call.
    let providers: [ProviderID]
    let requests: CallOrder<Request>
    /// True if the queue holds requests for any of the providers.
    private let isForAll: Bool

    init(_ providers: [ProviderID], isForAll: Bool, _ terms: FairTerms) {
        self.providers = providers
        self.isForAll = isForAll
        requests = CallOrder(terms)
    }

    func hasShortLine(for requestClass: RequestClass, in calls: any CallQueues) -> Bool {
        func isShort(_ provider: ProviderID) -> Bool { calls.hasShortLine(for: requestClass, at: provider) }
        return isForAll ? providers.allSatisfy(isShort) : providers.isEmpty || providers.contains(where: isShort)
    }
}

/// A request's entry in a queue of the waiting room.
struct WaitingPlace<Request> {
    let queue: WaitingQueue<Request>
    let ticket: CallOrder<Request>.Ticket
    /// Ends the wait of a request with a time limit.
    let timer: TimerID?
    /// The bytes of memory for which the request counts.
    let bytes: Int
}
