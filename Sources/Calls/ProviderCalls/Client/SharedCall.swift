internal import Basics
internal import LocationSearch
import Resilience
import Tracing

/// The calls to one provider that serve equal searches: one HTTP call, its retries and its follow-up calls.
final class SharedCall {
    typealias Result = Swift.Result<ProviderAnswer, CallFailure>

    /// How a search's membership in a call ended.
    enum End {
        case over(Result)
        /// The search's deadline passed; the call continues for the others.
        case timedOut
        case cancelled
    }

    /// The part of a search in the call that serves it.
    struct Membership {
        /// The time at which the search joined its call.
        var start = Instant(nanoseconds: 0)
        /// The call that the search waits for; `nil` before it joins one, and after the call's end or its own.
        var call: SharedCall?
        /// The end of the last membership. It is taken out, so that the places can be changed in place.
        var end: End?
        /// Timers that end the wait early; most searches need none.
        var timers: [ScheduledAction] = []

        mutating func leave() {
            call = nil
            for timer in timers { timer.cancel() }
            timers = []
        }
    }

    /// A search as the key of its call. Two keys are equal if the same calls serve both searches.
    ///
    /// All values that are sent to the provider count, and so does `hasAlternative`. The sender of the request and its time
    /// limits do not count. A search goes on to its next provider only after its call has ended, so the key of a call in
    /// flight does not change.
    struct Key: Hashable {
        private let search: ProviderSearch
        /// The hash of the members that differ most between requests. Computed once, because each look-up needs it.
        private let fingerprint: Int

        init(_ search: ProviderSearch) {
            self.search = search
            fingerprint = search.fingerprint()
        }

        static func == (a: Key, b: Key) -> Bool {
            a.search === b.search
                || (a.search.hasAlternative == b.search.hasAlternative && a.search.asksTheSame(as: b.search))
        }

        func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
    }

    enum State {
        case inFlight
        /// All members left before the call had its result.
        case cancelled
        case ended
    }

    struct Failures {
        /// The number of failed HTTP calls that count against `maxAttempts`.
        var count = 0
        /// The failure of the HTTP call that the current one repeats.
        var last: SearchError?
        /// True once an HTTP call was repeated because its connection was closed before the answer.
        var hasRepeated = false
    }

    /// The first member, for which the call is made.
    let search: ProviderSearch
    /// `nil` if no other search may join the call.
    let key: Key?
    let service: any PlaceService
    let deadline: Deadline
    var members: [ProviderSearch] = []
    /// The number of members that have not left.
    var present = 0
    var state = State.inFlight
    /// The cost of the HTTP calls so far.
    var cost = CallCost()
    /// `nil` before the end.
    var result: Result?
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

    init(for search: ProviderSearch, key: Key?) {
        (self.search, self.key) = (search, key)
        service = search.service
        deadline = search.deadline
        attempt = Attempt(before: search.deadline, at: search.membership.start)
    }

    var isCancelled: Bool { state == .cancelled }

    /// False once all members have left: no further HTTP call may begin.
    var isWanted: Bool { present > 0 }

    /// True once the provider was called for it, so that a longer wait for the answer costs no further call.
    var isBilled: Bool { cost.attempts > 0 }

    /// True once the first member has left: the call is made for the others.
    var isInherited: Bool { search.membership.call !== self }

    /// Records an HTTP call with the members that have inherited it, so that abandoning them is not free.
    @inline(never)
    func noteCallOfHeirs(at now: Instant) {
        for member in members where member.membership.call === self { member.context?.noteCall(at: now) }
    }

    /// Returns the price class by which the provider charges the next HTTP call, or the current one.
    // Out of line: elsewhere, the compiler would copy the whole request to pass it to a service.
    @inline(never)
    func priceClass() -> PriceClass { service.priceClass(of: search.request, followUp: followUp) }

    /// Begins the HTTP call: see `PlaceService.begin`.
    @inline(never)
    func begin(then completion: @escaping ProviderCompletion) -> (any Cancellable)? {
        service.begin(search.request, followUp: followUp, before: attempt.deadline, then: completion)
    }

    /// Begins the HTTP call with a span in a trace. `CallSpan.current` is that span while the call begins.
    @inline(never)
    func begin(in trace: SearchTrace, then completion: @escaping ProviderCompletion) -> (any Cancellable)? {
        let span = trace.beginCall(cost.attempts, to: service.id, of: search.request.requestID)
        // `nonisolated(unsafe)`: the service calls the closure on our loop.
        nonisolated(unsafe) let call = self
        return CallSpan.$current.withValue(span) {
            begin { result in
                if case .failure(let error) = result { unsafe span.note(error, isCancelled: call.isCancelled) }
                span.end()
                completion(result)
            }
        }
    }
}

extension ProviderSearch {
    fileprivate func fingerprint() -> Int {
        var hasher = Hasher()
        hasher.combine(request.location)
        if let id = request.placeID { hasher.combine(bytesOf: id) }
        if let keyword = request.keyword { hasher.combine(bytesOf: keyword) }
        if let token = request.pageToken { hasher.combine(bytesOf: token) }
        return hasher.finalize()
    }

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
