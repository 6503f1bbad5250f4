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

    /// Returns the deadlines of a request.
    /// - Parameter age: the time since the request was made; `nil` if unknown.
    /// - Parameter timeToExpiry: the time until the request expires; `nil`: it does not expire.
    /// - Parameter now: the time at which `age` and `timeToExpiry` were taken.
    /// - Throws: `expired` if no time is left.
    func deadlines(
        of request: SearchRequest, age: Duration?, timeToExpiry: Duration?, at now: Instant
    ) throws(SearchError) -> RequestDeadlines {
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
        return RequestDeadlines(
            Deadline(now + time), lastCall: timeToLastCall.map { now + $0 }, expiry: timeToExpiry.map { now + $0 })
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
