internal import Basics
internal import EventLoop
internal import LocationSearch
internal import ProviderCalls
internal import Resilience

/// The waiting requests whose calls would wait in the same lines. Confined to its lane; not `Sendable`.
final class WaitingQueue<Request> {
    typealias Ticket = CallOrder<Request>.Ticket

    /// One for each provider, preferred first; empty for requests that need no call.
    let lines: [CallLine]
    let requests: CallOrder<Request>
    /// True if the queue holds requests for any of the providers.
    private let isForAll: Bool

    init(_ lines: [CallLine], isForAll: Bool, _ terms: FairTerms) {
        self.lines = lines
        self.isForAll = isForAll
        requests = CallOrder(terms)
    }

    func hasShortLine(for requestClass: RequestClass, in calls: any CallQueues) -> Bool {
        func isShort(_ line: CallLine) -> Bool { calls.hasShortLine(for: requestClass, in: line) }
        return isForAll ? lines.allSatisfy(isShort) : lines.isEmpty || lines.contains(where: isShort)
    }
}

/// A request's entry in a queue of the waiting room.
struct WaitingPlace<Request> {
    let queue: WaitingQueue<Request>
    let ticket: WaitingQueue<Request>.Ticket
    /// The end of the wait of a request with a time limit.
    let end: Instant?
    /// Fires at `end`.
    let timer: TimerID?
    /// The bytes of memory for which the request counts.
    let bytes: Int
    /// The queue in which a request goes on waiting once its partition does not hold it back, and its ticket there.
    let former: (queue: WaitingQueue<Request>, ticket: WaitingQueue<Request>.Ticket)?
}
