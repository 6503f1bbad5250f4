internal import Basics
internal import LocationSearch
internal import ProviderCalls

/// How much time requests have, and when they are too old to begin.
struct RequestTimeLimits: Sendable, Hashable {
    /// `worker.deadline`: the time of a request that does not say `timeoutMs`.
    var standard: Duration
    /// `worker.maxDeadline`: the most that `timeoutMs` can ask for.
    var longest: Duration
    /// `worker.maxAge`: an older request is expired. `nil`: age does not matter.
    var maxAge: Duration?

    /// Returns the time that a request has from now on.
    /// - Parameter age: the time since the request was made; `nil` when that is not known.
    /// - Parameter timeToExpiry: the time until the request is of no use any more; `nil`: it does not expire.
    /// - Throws: `expired` when no time is left.
    func time(
        for request: SearchRequest, age: Duration?, timeToExpiry: Duration?
    ) throws(SearchError) -> RequestTime {
        var time = min(request.timeout ?? standard, longest)
        var timeToLastCall = timeToExpiry

        if let maxAge, let age = age.map({ max(.zero, $0) }) {
            guard age <= maxAge else { throw .tooOld }
            timeToLastCall = min(timeToLastCall ?? maxAge - age, maxAge - age)
            // Where age matters, it is also part of the time that the request itself asked for.
            if request.timeout != nil { time -= age }
        }
        if let timeToExpiry { time = min(time, timeToExpiry) }

        guard time > .zero else { throw .timeIsOver }
        return RequestTime(time: time, timeToLastCall: timeToLastCall, timeToExpiry: timeToExpiry)
    }
}

/// How much time one request has, counted from the moment at which it was read.
struct RequestTime: Sendable, Hashable {
    /// The time for serving it, more than zero.
    var time: Duration
    /// The time after which no call is begun for it any more; `nil` where only `time` counts.
    var timeToLastCall: Duration?
    /// The time after which its answer is of no use; `nil` where only `time` counts.
    var timeToExpiry: Duration?

    /// Returns the moments that bound how long the request may be held back.
    /// - Parameter now: the moment at which the request was read.
    func lifetime(from now: Instant) -> RequestLifetime? {
        guard let timeToLastCall else { return nil }
        return RequestLifetime(lastCall: now + timeToLastCall, expiry: timeToExpiry.map { now + $0 })
    }
}

extension SearchError {
    fileprivate static let tooOld = SearchError(
        .expired,
        "the request was older than worker.maxAge when it was read; if its answer is still wanted, make a new request")
    fileprivate static let timeIsOver = SearchError(
        .expired,
        "the request's own time was over when it was read; if its answer is still wanted, make a new request")
}
