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

    /// Returns the time that a request has from now on, more than zero.
    /// - Parameter age: the time since the request was made; `nil` when that is not known.
    /// - Parameter timeToExpiry: the time until the request is of no use any more; `nil`: it does not expire.
    /// - Throws: `expired` when no time is left.
    public func time(
        for request: SearchRequest, age: Duration?, timeToExpiry: Duration?
    ) throws(SearchError) -> Duration {
        var time = min(request.timeout ?? standard, longest)

        if let maxAge, let age = age.map({ max(.zero, $0) }) {
            guard age <= maxAge else { throw .tooOld }
            // Where age matters, it is also part of the time that the request itself asked for.
            if request.timeout != nil { time -= age }
        }
        if let timeToExpiry { time = min(time, timeToExpiry) }

        guard time > .zero else { throw .timeIsOver }
        return time
    }
}

extension SearchError {
    fileprivate static let tooOld = SearchError(
        .expired, "the request was older than worker.maxAge when it was read; send it again")
    fileprivate static let timeIsOver = SearchError(
        .expired, "the request's own time was over when it was read; send it again")
}
