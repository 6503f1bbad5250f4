public import Basics

/// A token bucket for one loop's share of a key's rate limit.
///
/// In every second at most `(perSecond + burst) * share` tokens are taken. The burst's part is at least 1, because a
/// smaller bucket would never hold a whole token. GCRA (virtual scheduling) was not chosen, because the share and a
/// `Retry-After` pause must change while calls wait. Here they are numbers; with GCRA, start times would already have been
/// assigned.
public struct RateBucket {
    public struct Statistics: Sendable, Hashable {
        /// The number of tokens taken.
        public var admitted = 0
        /// The number of calls refused because their token would come too late.
        public var refused = 0
        /// The number of calls that wait for a token now.
        public var waiting = 0
        /// The parts of `admitted` and `waiting` that are of the class `batch`.
        public var admittedBatch = 0
        public var waitingBatch = 0
        /// The number of tenants whose calls wait now. A tenant counts once per class.
        public var waitingTenants = 0

        public init() {}
    }

    /// How long a token is kept for a waiting call, in seconds. Timers fire up to a millisecond or two late, and a bucket
    /// of capacity 1 would otherwise lose that time on every token.
    private static let lateness = 0.005
    /// The sum of fractions of a token may stay slightly below 1 in floating point.
    private static let whole = 1 - 1e-9

    /// The limit that this loop has a share of.
    public private(set) var limit: RateLimit?
    private let longestPause: Duration
    /// The tokens per second at present; infinite without a limit.
    public private(set) var rate: Double
    private var capacity: Double
    /// This loop's present share, and the share that it will have soon; 0 to 1.
    private var (share, prospect) = (0.0, 0.0)
    /// The time from which no token is issued until the share is set again; `nil`: the share has no end.
    private var shareEnd: Instant?
    /// The rate for forecasts, if higher than the present rate.
    private var prospectiveRate = 0.0
    private var tokens: Double
    /// The time up to which `tokens` are counted; in the future during a pause.
    private var countedUntil: Instant
    /// True while calls wait, so that a due token is kept for them.
    public var isAwaited = false
    public private(set) var statistics = Statistics()

    /// - Parameter limit: the key's limit. `nil`: there is none, and only `pause` delays calls.
    /// - Parameter share: this loop's share of the limit, 0 to 1. The bucket begins full, so in `shared` mode begin with 0.
    /// - Parameter longestPause: the longest pause that a provider can request. Longer ones, above ten minutes, are handled
    ///   by the breaker.
    public init(limit: RateLimit?, share: Double, longestPause: Duration = .seconds(600), at now: Instant) {
        (self.limit, self.longestPause, self.share) = (limit, longestPause, share)
        (rate, capacity) = Self.bucket(limit, share: share)
        tokens = capacity
        countedUntil = now
    }

    private static func bucket(_ limit: RateLimit?, share: Double) -> (rate: Double, capacity: Double) {
        guard let limit else { return (.infinity, .infinity) }
        let share = min(max(share, 0), 1)
        return share > 0 ? (limit.perSecond * share, max(1, limit.burst * share)) : (0, 0)
    }

    // MARK: - Tokens

    /// Returns the end of the current pause that the provider requested; `nil` if there is none.
    public func pausedUntil(at now: Instant) -> Instant? { countedUntil > now ? countedUntil : nil }

    /// Returns whether a token is available now.
    public mutating func hasToken(at now: Instant) -> Bool {
        if limit == nil { return now >= countedUntil }
        count(until: now)
        return now >= countedUntil && tokens >= Self.whole && shareEnd.map { now < $0 } ?? true
    }

    /// Takes a token. Call this only if `hasToken` has just returned true.
    public mutating func take(as requestClass: RequestClass = .interactive) {
        tokens = max(0, tokens - 1)
        statistics.admitted += 1
        if requestClass == .batch { statistics.admittedBatch += 1 }
    }

    /// Takes back the token of a call that was not made, for the next one.
    public mutating func giveBack(as requestClass: RequestClass = .interactive, at now: Instant) {
        statistics.admitted -= 1
        if requestClass == .batch { statistics.admittedBatch -= 1 }
        guard limit != nil else { return }
        count(until: now)
        tokens = min(pausedUntil(at: now) == nil ? capacity : min(1, capacity), tokens + 1)
    }

    private mutating func count(until now: Instant) {
        guard now > countedUntil else { return }
        if limit != nil {
            let top = isAwaited ? max(capacity, 1 + min(1, rate * Self.lateness)) : capacity
            let counted = max(.zero, countedUntil.duration(to: min(now, shareEnd ?? now)))
            tokens = min(top, tokens + counted.inSeconds * rate)
        }
        countedUntil = now
    }

    // MARK: - Forecasts

    /// The number of calls per second that this loop may make, now or soon; `nil` without a limit.
    public var pace: Double? { limit == nil ? nil : max(rate, prospectiveRate) }

    /// Returns the number of tokens available within a time: those saved up and those to come. Infinite without a limit.
    public func supply(within seconds: Double) -> Double { limit == nil ? .infinity : tokens + rate * seconds }

    /// Returns the time until the token of a call behind this many others; `nil` if the share never provides one.
    public mutating func wait(behind others: Double, at now: Instant) -> Duration? {
        wait(behind: others, atRate: max(rate, prospectiveRate), at: now)
    }

    /// Returns the time at which the next token is available; `nil` if that is after the share's end.
    public mutating func nextToken(at now: Instant) -> Instant? {
        guard let wait = wait(behind: 0, atRate: rate, at: now) else { return nil }
        let due = now + wait
        return shareEnd.map { due < $0 } ?? true ? due : nil
    }

    private mutating func wait(behind others: Double, atRate rate: Double, at now: Instant) -> Duration? {
        count(until: now)
        let paused = max(.zero, now.duration(to: countedUntil))
        guard limit != nil else { return paused }
        let missing = others + 1 - tokens
        guard missing > 0 else { return paused }
        return rate > 0 ? paused + Duration.seconds(roundedUp: missing / rate) : nil
    }

    // MARK: - Changes

    /// Changes this loop's share. A smaller share also reduces the tokens saved up. A larger one enlarges the bucket but
    /// adds no tokens, so that tokens that another worker has just used are not used again.
    /// - Parameter end: the time from which no token is issued until the share is set again, because other loops may have
    ///   the share then. `nil`: no end.
    /// - Parameter prospect: the share that this loop will have soon, 0 to 1. Calls are not refused because of a share that
    ///   is only briefly smaller.
    public mutating func setShare(_ share: Double, until end: Instant? = nil, prospect: Double = 0, at now: Instant) {
        count(until: now)
        shareEnd = end
        (self.share, self.prospect) = (share, prospect)
        fit()
    }

    /// Changes the limit that this loop has a share of. A lower limit also reduces the tokens saved up, and a higher one adds no tokens.
    public mutating func setLimit(_ limit: RateLimit, at now: Instant) {
        guard self.limit != nil, self.limit != limit else { return }
        count(until: now)
        self.limit = limit
        fit()
    }

    private mutating func fit() {
        (rate, capacity) = Self.bucket(limit, share: share)
        prospectiveRate = Self.bucket(limit, share: prospect).rate
        tokens = min(tokens, capacity)
    }

    /// Issues no token until a given time, because the provider requested a pause (`Retry-After`, Google's RetryInfo). The
    /// pause applies to all calls, whichever of them received it. The bucket does not fill meanwhile and opens with one
    /// token at most.
    public mutating func pause(until end: Instant, at now: Instant) {
        count(until: now)
        let end = min(end, now + longestPause)
        guard end > countedUntil else { return }
        countedUntil = end
        if limit != nil { tokens = min(tokens, 1) }
    }
}

/// The rate of calls that all workers together may make with an API key.
public struct RateLimit: Sendable, Hashable {
    /// `providers.<name>.requestsPerSecond`: more than zero, and finite.
    public let perSecond: Double
    /// `providers.<name>.burst`: requests that may be sent at once after a pause, at least 1.
    public let burst: Double

    /// - Parameter burst: `nil`: a tenth of a second's worth. It smooths uneven arrivals, and it is negligible for a quota
    ///   counted per minute, such as Google's.
    public init(perSecond: Double, burst: Double? = nil) {
        precondition(perSecond > 0 && perSecond.isFinite, "a rate limit is a positive number")
        self.perSecond = perSecond
        self.burst = max(1, burst ?? perSecond / 10)
    }

    /// Returns the limit with another rate, and a burst in the same proportion.
    public func scaled(to perSecond: Double) -> RateLimit {
        RateLimit(perSecond: perSecond, burst: burst * (perSecond / self.perSecond))
    }
}
