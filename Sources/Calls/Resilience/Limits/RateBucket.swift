public import Basics

/// The tokens of one loop's share of a key's rate limit: a token bucket.
///
/// In every second at most `(perSecond + burst) * share` tokens are taken. The burst's part is at least 1, because a smaller
/// bucket would never hold a whole token. Virtual scheduling (GCRA) was not chosen: the share at a rebalance and a pause by
/// `Retry-After` must change while calls wait, which here is a number, and there would be turns already given out.
public struct RateBucket {
    public struct Statistics: Sendable, Hashable {
        /// The number of tokens taken.
        public var admitted = 0
        /// The number of calls that had to wait for a token.
        public var waited = 0
        /// The number of calls refused because their token would come too late.
        public var refused = 0
        public var cancelled = 0
        /// The number of calls that wait for a token now.
        public var waiting = 0
        /// Those of `admitted` and `waiting` that are of the class `batch`.
        public var admittedBatch = 0
        public var waitingBatch = 0
        /// The number of tenants, each counted once for a class, whose calls wait now.
        public var waitingTenants = 0

        public init() {}
    }

    /// A token that comes due while a call waits is kept for that call this long. Timers fire up to a millisecond or two late, and
    /// a bucket of 1 would otherwise lose that time on every token.
    private static let lateness = 0.005
    /// Parts of a token, added as floating-point numbers, may stay a little below a whole one.
    private static let whole = 1 - 1e-9

    /// The limit of which this loop has a share.
    public private(set) var limit: RateLimit?
    private let longestPause: Duration
    /// The tokens a second that come now; infinite without a limit.
    public private(set) var rate: Double
    private var capacity: Double
    /// This loop's shares, 0 to 1: of the moment, and the one that it will have soon.
    private var (share, prospect) = (0.0, 0.0)
    /// The moment from which on no token is given until the share is set again; `nil` where it holds for good.
    private var shareEnd: Instant?
    /// The rate by which turns are foretold, where that is more than the rate of the moment.
    private var prospectiveRate = 0.0
    private var tokens: Double
    /// The moment up to which `tokens` are counted; it lies in the future during a pause.
    private var countedUntil: Instant
    /// True while calls wait, so that a token that is due is kept for them.
    public var isAwaited = false
    public private(set) var statistics = Statistics()

    /// - Parameter limit: the key's limit. `nil`: there is none, and only `pause` holds calls back.
    /// - Parameter share: this loop's part of the limit, 0 to 1. The bucket begins full, so in `shared` mode begin with 0.
    /// - Parameter longestPause: the longest pause that a provider can ask for. Beyond ten minutes it is the breaker's business.
    public init(limit: RateLimit?, share: Double, longestPause: Duration = .seconds(600), at now: Instant) {
        self.limit = limit
        self.longestPause = longestPause
        self.share = share
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

    /// Returns the end of the pause that the provider asked for; `nil` where none lasts.
    public func pausedUntil(at now: Instant) -> Instant? { countedUntil > now ? countedUntil : nil }

    /// Returns true where a call may have a token now.
    public mutating func hasToken(at now: Instant) -> Bool {
        if limit == nil { return now >= countedUntil }
        if isPutBack(.bucketNeverEmpty) { return true }
        count(until: now)
        return now >= countedUntil && tokens >= Self.whole && shareEnd.map { now < $0 } ?? true
    }

    /// Takes the token that `hasToken` has just told of.
    public mutating func take(as requestClass: RequestClass = .interactive) {
        tokens = max(0, tokens - 1)
        statistics.admitted += 1
        if requestClass == .batch { statistics.admittedBatch += 1 }
    }

    /// Takes back the token of a call that was not made, so that the next one may have it.
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

    /// The calls a second that this loop may make, now or soon; `nil` without a limit.
    public var pace: Double? { limit == nil ? nil : max(rate, prospectiveRate) }

    /// Returns the number of tokens to be had within a time, of those that are saved up and those that come; infinite without a limit.
    public func supply(within seconds: Double) -> Double { limit == nil ? .infinity : tokens + rate * seconds }

    /// Returns the time until the token of a call with so many others before it; `nil` when the share never gives it one.
    public func wait(behind others: Double, at now: Instant) -> Duration? {
        wait(behind: others, atRate: max(rate, prospectiveRate), at: now)
    }

    /// Returns the moment at which the next token can be had; `nil` where it comes after the share's end.
    public func nextToken(at now: Instant) -> Instant? {
        guard let wait = wait(behind: 0, atRate: rate, at: now) else { return nil }
        let due = now + wait
        return shareEnd.map { due < $0 } ?? true ? due : nil
    }

    private func wait(behind others: Double, atRate rate: Double, at now: Instant) -> Duration? {
        let paused = max(.zero, now.duration(to: countedUntil))
        guard limit != nil else { return paused }
        let missing = others + 1 - tokens
        guard missing > 0 else { return paused }
        return rate > 0 ? paused + Duration.seconds(roundedUp: missing / rate) : nil
    }

    // MARK: - Changes

    /// Changes this loop's share. A smaller share counts at once, also for tokens saved up. A larger one brings a larger
    /// bucket but no tokens, so that what another worker has just used is not used again.
    /// - Parameter end: the moment from which on no token is given until the share is set again, because others may have it
    ///   then. `nil`: the share holds until then.
    /// - Parameter prospect: the share that this loop will have soon, 0 to 1. A call is not refused for a share that is smaller
    ///   for a moment.
    public mutating func setShare(_ share: Double, until end: Instant? = nil, prospect: Double = 0, at now: Instant) {
        count(until: now)
        shareEnd = end
        (self.share, self.prospect) = (share, prospect)
        fit()
    }

    /// Changes the limit of which this loop has a share. As with a share, a lower limit counts at once, also for tokens saved
    /// up, and a higher one brings no tokens.
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
        if isPutBack(.gainComesFull) { tokens = capacity }
    }

    /// Gives no token until a moment, because the provider asked for that (`Retry-After`, Google's RetryInfo). It holds for all
    /// calls, whichever was told. The bucket stands still meanwhile and opens with one token at most.
    public mutating func pause(until end: Instant, at now: Instant) {
        count(until: now)
        let end = min(end, now + longestPause)
        guard end > countedUntil else { return }
        countedUntil = end
        if limit != nil { tokens = min(tokens, 1) }
    }
}
