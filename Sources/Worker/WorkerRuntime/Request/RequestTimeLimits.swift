internal import Basics
internal import LocationSearch
internal import ProviderCalls

/// The rules for the deadline of a request, and for its largest age.
package struct RequestTimeLimits: Sendable, Hashable {
    /// `worker.deadline`: the default deadline of a request without `timeoutMs`.
    package var deadline: Duration
    /// `worker.maxDeadline`: the largest effective `timeoutMs`.
    package var maxDeadline: Duration
    /// `worker.maxAge`: older requests end as `expired`; see `RequestEnvelope.time`. `nil`: off.
    package var maxAge: Duration?

    package init(deadline: Duration = .seconds(5), maxDeadline: Duration = .seconds(30), maxAge: Duration? = nil) {
        (self.deadline, self.maxDeadline, self.maxAge) = (deadline, maxDeadline, maxAge)
    }

    /// Returns the time that a request has from now on.
    /// - Parameter age: the time since the request was made; `nil` if unknown.
    /// - Parameter timeToExpiry: the time until the request expires; `nil`: it does not expire.
    /// - Throws: `expired` if no time is left.
    func time(for request: SearchRequest, age: Duration?, timeToExpiry: Duration?) throws(SearchError) -> RequestTime {
        var time = min(request.timeout ?? deadline, maxDeadline)
        var timeToLastCall = timeToExpiry

        if let maxAge, let age = age.map({ max(.zero, $0) }) {
            guard age <= maxAge else { throw .tooOld }
            timeToLastCall = min(timeToLastCall ?? maxAge - age, maxAge - age)
            // With `maxAge`, the age also counts towards the request's own timeout.
            if request.timeout != nil { time -= age }
        }
        if let timeToExpiry { time = min(time, timeToExpiry) }

        guard time > .zero else { throw .timeIsOver }
        return RequestTime(time: time, timeToLastCall: timeToLastCall, timeToExpiry: timeToExpiry)
    }
}

/// The time limits of one request, from the call of `RequestTimeLimits.time` on.
struct RequestTime: Sendable, Hashable {
    /// The time for serving it, more than zero.
    var time: Duration
    /// The time after which no call for it may begin; `nil` if only `time` applies.
    var timeToLastCall: Duration?
    /// The time after which its result is useless; `nil` if only `time` applies.
    var timeToExpiry: Duration?

    /// Returns the times that limit how long the request may wait.
    /// - Parameter now: the time of the call of `RequestTimeLimits.time`.
    func lifetime(from now: Instant) -> RequestLifetime? {
        guard let timeToLastCall else { return nil }
        return RequestLifetime(lastCall: now + timeToLastCall, expiry: timeToExpiry.map { now + $0 })
    }
}

extension SearchError {
    fileprivate static let tooOld = SearchError(
        .expired,
        "the request was older than worker.maxAge when it was read; send a new request if the result is still needed")
    fileprivate static let timeIsOver = SearchError(
        .expired,
        "the request's timeoutMs or expirytime had passed when it was read; send a new request if the result is still needed"
    )
}
