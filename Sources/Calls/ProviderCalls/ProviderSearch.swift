public import Basics
public import LocationSearch
import Resilience

/// Calls providers for places, within deadline, limits, retries and breaker. Confined to the actor that begins searches.
public protocol SearchExecutor: AnyObject {
    /// Starts a search at its candidates. `search.end` is called once, possibly before this returns.
    func begin(_ search: ProviderSearch)

    /// Ends a search early. `search.end` is called in a later job of the actor. Has no effect after the end.
    func cancel(_ search: ProviderSearch)
}

/// The times that end the work for a request.
public struct RequestDeadlines: Sendable, Hashable {
    /// The end of the search. `whenOpen=hold` extends it by the time for which the search is parked.
    public var search: Deadline
    /// The request's first call and each retry begin before this time: `worker.maxAge` and `expirytime`. Never extended;
    /// `nil` if only `search` counts.
    public var lastCall: Instant?
    /// The end of every call: `expirytime`. Never extended; `nil` if the request has none.
    public var expiry: Instant?

    public init(_ search: Deadline, lastCall: Instant? = nil, expiry: Instant? = nil) {
        (self.search, self.lastCall, self.expiry) = (search, lastCall, expiry)
    }
}

/// The search for one request's answer at its candidate providers, all within one deadline.
///
/// Not `Sendable`: it belongs to the actor on which its worker runs.
public final class ProviderSearch {
    /// The time for which a search is parked because its provider is shut.
    struct Pause {
        let start: Instant
        /// The latest end of the pause.
        let end: Instant
        let failure: CallFailure
        /// The next check of the provider.
        var timer: ScheduledAction?
    }

    /// The request in the form in which providers receive it: see `SearchRequest.addressedToProviders()`.
    public let request: SearchRequest
    /// At least one provider, best first. The next one is tried if one fails temporarily.
    public let candidates: [any PlaceService]
    private var deadlines: RequestDeadlines
    /// Records the calls for the request; `nil` if none are recorded.
    public let context: RequestContext?
    private let completion: (ProviderSearch) -> Void
    @usableFromInline
    unowned let worker: any SearchExecutor
    /// The providers tried so far, in order. The last one is the current candidate.
    public private(set) var tried: [ProviderID] = []
    /// The cost of the calls made for this search so far.
    public var cost = CallCost()
    private var result: Result<ProviderAnswer, SearchError>?
    /// The part of the search in the call that serves it at the current candidate.
    var membership = SharedCall.Membership()
    /// `nil` while the search is not parked.
    var pause: Pause?
    private(set) var isCancelled = false

    /// - Parameter completion: called once, when the search has its result.
    public init(
        _ request: SearchRequest, at candidates: [any PlaceService], by worker: any SearchExecutor,
        before deadlines: RequestDeadlines, context: RequestContext? = nil,
        then completion: @escaping (ProviderSearch) -> Void
    ) {
        (self.request, self.candidates, self.worker) = (request, candidates, worker)
        (self.deadlines, self.context, self.completion) = (deadlines, context, completion)
    }

    @inlinable
    public func begin() { worker.begin(self) }

    /// Ends the search early. Its completion is called in a later job. Has no effect after the end.
    public func cancel() {
        isCancelled = true
        worker.cancel(self)
    }

    /// Ends the search with its result. Called once, by the worker.
    public func end(with result: Result<ProviderAnswer, SearchError>) {
        self.result = result
        completion(self)
    }

    /// Moves the result out of a search that has ended, so that its places are completed in place and not in a copy.
    public func takeResult() -> Result<ProviderAnswer, SearchError> { result.take() ?? .failure(.timedOut) }

    // MARK: - The current candidate

    /// Goes on to the next candidate. Called by the worker.
    public func takeCandidate(at now: Instant) {
        tried.append(candidates[tried.count].id)
        membership.start = now
    }

    /// The current candidate; the first one before the search has begun.
    var service: any PlaceService { candidates[max(tried.count, 1) - 1] }

    /// True if another provider can be tried when the current one fails.
    var hasAlternative: Bool { tried.count < candidates.count }

    /// The class and tenant under which the request's calls wait.
    var flow: Flow { context?.flow ?? .standard }

    /// The request's deadline, extended by the time for which the search was parked.
    var deadline: Deadline { deadlines.search }

    /// The latest start of a call for the request; `nil` if only its deadline counts.
    var lastCall: Instant? { deadlines.lastCall }

    /// Returns whether it is too late to begin a call for the request.
    func isOver(at now: Instant) -> Bool { lastCall.map { $0 <= now } ?? false }

    /// Returns whether calls for this request may begin later than calls for the other one.
    func mayCallLater(than other: ProviderSearch) -> Bool {
        guard let othersLast = other.lastCall else { return false }
        return lastCall.map { $0 > othersLast } ?? true
    }

    /// Extends the deadline by the time for which the search was parked, but not beyond the request's expiry.
    func extendDeadline(by parked: Duration) {
        let extended = deadline.instant + parked
        deadlines.search = Deadline(deadlines.expiry.map { min($0, extended) } ?? extended)
    }
}
