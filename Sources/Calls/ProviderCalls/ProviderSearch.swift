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

/// The times after which a request is useless, whatever it waits for.
///
/// A deadline limits how long a request may be processed, and `whenOpen=hold` extends it by the parked time. These times
/// are never extended.
public struct RequestLifetime: Sendable, Hashable {
    /// The request's first call and each retry begin before this time: `worker.maxAge` and `expirytime`.
    public var lastCall: Instant
    /// The end of every call: `expirytime`. `nil` if the request has none.
    public var expiry: Instant?

    public init(lastCall: Instant, expiry: Instant? = nil) {
        self.lastCall = lastCall
        self.expiry = expiry
    }
}

/// The search for one request's answer at its candidate providers, all within one deadline.
///
/// Not `Sendable`: it belongs to the actor on which its worker runs.
public final class ProviderSearch {
    /// The request in the form in which providers receive it: see `SearchRequest.addressedToProviders()`.
    public let request: SearchRequest
    /// At least one provider, best first. The next one is tried if one fails temporarily.
    public let candidates: [any PlaceService]
    public let deadline: Deadline
    /// The times after which the request is useless; `nil` if only its deadline counts.
    let lifetime: RequestLifetime?
    /// Records the calls for the request; `nil` if none are recorded.
    public let context: RequestContext?
    private let completion: (inout SearchReport) -> Void
    @usableFromInline
    unowned let worker: any SearchExecutor
    private(set) var tried: [ProviderID] = []
    /// The cost of the calls so far.
    var spent = CallCost()
    /// The query at the current candidate; `nil` before the first and after the end.
    var query: ProviderQuery?
    private(set) var isCancelled = false

    /// - Parameter completion: called once with the result.
    public init(
        _ request: SearchRequest, at candidates: [any PlaceService], by worker: any SearchExecutor,
        before deadline: Deadline, lifetime: RequestLifetime? = nil, context: RequestContext? = nil,
        then completion: @escaping (inout SearchReport) -> Void
    ) {
        (self.request, self.candidates, self.worker) = (request, candidates, worker)
        (self.deadline, self.lifetime, self.context, self.completion) = (deadline, lifetime, context, completion)
    }

    @inlinable
    public func begin() { worker.begin(self) }

    /// Ends the search early. Its completion is called in a later job. Has no effect after the end.
    public func cancel() {
        isCancelled = true
        worker.cancel(self)
    }

    /// Reports the result. Called once, by the worker.
    public func end(with report: inout SearchReport) { completion(&report) }

    /// True if no candidate is left after the current one.
    var isAtLast: Bool { tried.count == candidates.count }

    func takeCandidate() -> any PlaceService {
        let service = candidates[tried.count]
        tried.append(service.id)
        return service
    }

    // Out of line: elsewhere, the compiler would copy the whole request to pass it to a service.
    @inline(never)
    func priceClass(at service: any PlaceService, followUp: FollowUpCall?) -> PriceClass {
        service.priceClass(of: request, followUp: followUp)
    }

    /// Begins one HTTP call: see `PlaceService.begin`.
    @inline(never)
    func beginCall(
        at service: any PlaceService, followUp: FollowUpCall?, before deadline: Deadline,
        then completion: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        service.begin(request, followUp: followUp, before: deadline, then: completion)
    }
}

/// A search's query at one of its candidate providers, as a member of a `SharedCall`.
///
/// Two queries are equal if the same calls serve both. All values that are sent to the provider count, and so does
/// `hasAlternative`. The sender of the request and its time limits do not count.
final class ProviderQuery: Hashable {
    typealias Result = Swift.Result<ProviderAnswer, CallFailure>

    /// How a query's membership in a call ended.
    enum End {
        case over(Result)
        /// The query's deadline passed; the call continues for the others.
        case timedOut
        case cancelled
    }

    /// The time for which a query is parked because its provider is shut.
    struct Pause {
        let start: Instant
        /// The latest end of the pause.
        let end: Instant
        let failure: CallFailure
        /// The next check of the provider.
        var timer: ScheduledAction?
    }

    let search: ProviderSearch
    let service: any PlaceService
    /// True if another provider can be tried when this one fails.
    let hasAlternative: Bool
    /// The search's deadline, extended by the time for which the query was parked.
    private(set) var deadline: Deadline
    /// The hash of the members that differ most between requests. Computed once, because each look-up needs it.
    private let fingerprint: Int
    /// The time at which the query joined its call.
    var start: Instant
    /// The call that the query waits for; `nil` before it joins one, and after the call's end or its own.
    var call: SharedCall?
    /// True if the call is made for this query.
    var isFirst = false
    /// The end of its membership in the last call. `takeResult` removes it, so that the places can be changed in place.
    var end: End?
    /// Timers that end the wait early; most queries need none.
    var timers: [ScheduledAction] = []
    /// The cost of the calls made for this query.
    var cost = CallCost()
    /// `nil` while the query is not parked.
    var pause: Pause?

    init(of search: ProviderSearch, to service: any PlaceService, hasAlternative: Bool, at now: Instant) {
        self.search = search
        start = now
        self.service = service
        self.hasAlternative = hasAlternative
        deadline = search.deadline
        fingerprint = Self.fingerprint(of: search.request)
    }

    var request: SearchRequest { search.request }

    /// The context in which the request's calls are recorded; `nil` if none are recorded.
    var context: RequestContext? { search.context }

    /// The class and tenant under which the request's calls wait.
    var flow: Flow { context?.flow ?? .standard }

    /// The latest start of a call for the request; `nil` if only its deadline counts.
    var lastCall: Instant? { search.lifetime?.lastCall }

    /// Returns whether it is too late to begin a call for the request.
    func isOver(at now: Instant) -> Bool { lastCall.map { $0 <= now } ?? false }

    /// Returns whether calls for this request may begin later than calls for the other one.
    func mayCallLater(than other: ProviderQuery) -> Bool {
        guard let othersLast = other.lastCall else { return false }
        return lastCall.map { $0 > othersLast } ?? true
    }

    /// Extends the deadline by the time for which the query was parked, but not beyond the request's expiry.
    func extendDeadline(by parked: Duration) {
        let extended = deadline.instant + parked
        deadline = Deadline(search.lifetime?.expiry.map { min($0, extended) } ?? extended)
    }

    func leaveCall() {
        call = nil
        for timer in timers { timer.cancel() }
        timers = []
    }

    /// Returns the price class by which the provider charges a call.
    func priceClass(followUp: FollowUpCall?) -> PriceClass { search.priceClass(at: service, followUp: followUp) }

    private static func fingerprint(of request: borrowing SearchRequest) -> Int {
        var hasher = Hasher()
        hasher.combine(request.location)
        if let id = request.placeID { hasher.combine(bytesOf: id) }
        if let keyword = request.keyword { hasher.combine(bytesOf: keyword) }
        if let token = request.pageToken { hasher.combine(bytesOf: token) }
        return hasher.finalize()
    }

    static func == (a: ProviderQuery, b: ProviderQuery) -> Bool {
        a === b
            || (a.service.id == b.service.id && a.hasAlternative == b.hasAlternative
                && a.search.asksTheSame(as: b.search))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

/// The calls to one provider that serve equal queries: one HTTP call, its retries and its follow-up calls.
final class SharedCall {
    struct Failures {
        /// The number of failed HTTP calls that count against `maxAttempts`.
        var count = 0
        /// The failure of the HTTP call that the current one repeats.
        var last: SearchError?
        /// True once an HTTP call was repeated because its connection was closed before the answer.
        var hasRepeated = false
    }

    /// The query of the first member, for which the call is made.
    let query: ProviderQuery
    let deadline: Deadline
    var members: [ProviderQuery] = []
    /// The number of members that have not left.
    var present = 0
    /// False once the call has its result.
    var isInFlight = true
    /// True once it was cancelled, because all members have left.
    var isCancelled = false
    /// The cost of the HTTP calls so far.
    var cost = CallCost()
    /// `nil` before the end.
    var result: ProviderQuery.Result?
    /// The current HTTP call, or the last one.
    var attempt: Attempt
    /// The follow-up call to make; `nil` for the first call.
    var followUp: FollowUpCall?
    /// The failed HTTP calls so far.
    var failures = Failures()
    /// The wait for the grant of the HTTP call, if it waits.
    var wait: ProviderQueue.Call?
    /// The HTTP call in flight, if any.
    var inFlight: (any Cancellable)?
    /// The pause before the next HTTP call, if there is one.
    var pause: (start: Instant, timer: ScheduledAction)?

    init(for query: ProviderQuery) {
        self.query = query
        deadline = query.deadline
        attempt = Attempt(before: query.deadline, at: query.start)
    }

    /// False once all members have left: no further HTTP call may begin.
    var isWanted: Bool { present > 0 }

    /// True once the provider was called for it, so that a longer wait for the answer costs no further call.
    var isBilled: Bool { cost.attempts > 0 }
}

extension ProviderSearch {
    /// Compares the requests member by member, most distinctive first, because copying either request costs more.
    fileprivate func asksTheSame(as other: ProviderSearch) -> Bool {
        request.location == other.request.location && request.radiusMeters == other.request.radiusMeters
            && request.operation == other.request.operation && request.limit == other.request.limit
            && request.openNow == other.request.openNow
            && request.category.isSpelt(as: other.request.category)
            && request.keyword.isSpelt(as: other.request.keyword)
            && request.language.isSpelt(as: other.request.language)
            && request.pageToken.isSpelt(as: other.request.pageToken)
            && request.placeID.isSpelt(as: other.request.placeID)
            && request.hasOptions == other.request.hasOptions
            && (!request.hasOptions || request.options.areSpelt(as: other.request.options))
    }
}

extension Optional<String> {
    fileprivate func isSpelt(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let text?, let other?): text.isSpelt(as: other)
        default: false
        }
    }
}
