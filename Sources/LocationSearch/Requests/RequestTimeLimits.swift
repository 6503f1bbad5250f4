public import Basics

/// How much time requests have, and when they are too old to begin.
public struct RequestTimeLimits: Sendable, Hashable {
    /// `worker.deadline`: the time of a request that does not say `timeoutMs`.
    public var standard: Duration
    /// `worker.maxDeadline`: the most that `timeoutMs` can ask for.
    public var longest: Duration
    /// `worker.maxAge`: an older request is expired. `nil`: age does not matter.
    public var maxAge: Duration?

    public init(standard: Duration, longest: Duration, maxAge: Duration? = nil) {
        self.standard = standard
        self.longest = longest
        self.maxAge = maxAge
    }

    /// Returns the time that a request has from now on.
    /// - Parameter age: the time since the request was made; `nil` when that is not known.
    /// - Parameter timeToExpiry: the time until the request is of no use any more; `nil`: it does not expire.
    /// - Throws: `expired` when no time is left.
    public func time(
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
public struct RequestTime: Sendable, Hashable {
    /// The time for serving it, more than zero.
    public var time: Duration
    /// The time after which no call is begun for it any more; `nil` where only `time` counts.
    public var timeToLastCall: Duration?
    /// The time after which its answer is of no use; `nil` where only `time` counts.
    public var timeToExpiry: Duration?

    /// Returns the moments that bound how long the request may be held back.
    /// - Parameter now: the moment at which the request was read.
    public func lifetime(from now: Instant) -> RequestLifetime? {
        guard let timeToLastCall else { return nil }
        return RequestLifetime(lastCall: now + timeToLastCall, expiry: timeToExpiry.map { now + $0 })
    }
}

/// Until when a request is of use, whatever it waits for.
///
/// A deadline says how long a request may be worked on, and `whenOpen=hold` extends it by the time that the request is
/// held back. These moments are never extended.
public struct RequestLifetime: Sendable, Hashable {
    /// The request's first call, and each retry, begins before this moment: `worker.maxAge` and `expirytime`.
    public var lastCall: Instant
    /// The end of every call: `expirytime`. `nil` where the request has none.
    public var expiry: Instant?

    /// A request that is of use until then.
    public init(lastCall: Instant, expiry: Instant? = nil) {
        self.lastCall = lastCall
        self.expiry = expiry
    }
}

extension SearchError {
    fileprivate static let tooOld = SearchError(
        .expired,
        "the request was older than worker.maxAge when it was read; if its answer is still wanted, make a new request")
    fileprivate static let timeIsOver = SearchError(
        .expired,
        "the request's own time was over when it was read; if its answer is still wanted, make a new request")

    /// The end of a request that was held back for longer than it was of use.
    static func overWhileWaiting(for provider: ProviderID) -> SearchError {
        SearchError(
            .expired,
            "the request reached worker.maxAge or its expirytime while it waited until \(provider.rawValue) may be asked; if its answer is still wanted, make a new request"
        )
    }
}
