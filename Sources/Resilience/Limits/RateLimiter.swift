internal import DequeModule

/// Lets requests to a provider go at a rate: a token bucket, with those who wait served in the order they came.
///
/// In every second at most `(perSecond + burst) * share` pass (at least 1 of burst, for a smaller bucket never fills a
/// token). A bucket rather than virtual scheduling (GCRA), because what must change while tasks wait - the share at a
/// rebalance, a closure by `Retry-After` - is a number here, and slots already given out there.
///
/// Not `Sendable`: belongs to one actor, whose isolation `acquire` keeps. Costs no lock and no allocation unless it
/// waits.
public final class RateLimiter {
    public struct Statistics: Sendable, Hashable {
        /// Requests let through, those that waited among them.
        public var admitted = 0
        public var waited = 0
        /// Refused as too late for their deadline.
        public var refused = 0
        public var cancelled = 0
        /// Requests waiting now.
        public var waiting = 0
    }

    private struct Entry {
        let waiter: Waiter
        let deadline: Deadline
    }

    /// While somebody waits, a token that comes due is kept for him this long, for timers fire up to a millisecond or two
    /// late; without it a bucket of 1 would lose that time on every token.
    private static let lateness = 0.005
    /// Doubles add up to a little less than a whole token.
    private static let whole = 1 - 1e-9

    private let limit: RateLimit?
    private let longestClosure: Duration
    private let timekeeper: any Timekeeper
    private var rate: Double
    private var capacity: Double
    private var tokens: Double
    /// Up to when `tokens` are counted; in the future while the bucket is closed.
    private var countedUntil: ContinuousClock.Instant
    private var line: Deque<Entry> = []
    private var alarm: ContinuousClock.Instant?
    private var counters = Statistics()

    /// - Parameter limit: of the key; `nil`: no limit, only `close` holds requests back.
    /// - Parameter share: this loop's part of it, 0 to 1. The bucket begins full: in `shared` mode begin with 0.
    /// - Parameter longestClosure: no provider closes the bucket for longer, whatever it asks. Ten minutes: beyond that
    ///   it is the breaker's business.
    public init(
        limit: RateLimit?, share: Double, timekeeper: any Timekeeper, longestClosure: Duration = .seconds(600)
    ) {
        self.limit = limit
        self.longestClosure = longestClosure
        self.timekeeper = timekeeper
        (rate, capacity) = Self.bucket(limit, share)
        tokens = capacity
        countedUntil = timekeeper.now
    }

    private static func bucket(_ limit: RateLimit?, _ share: Double) -> (rate: Double, capacity: Double) {
        guard let limit else { return (.infinity, .infinity) }
        let share = min(max(share, 0), 1)
        return share > 0 ? (limit.perSecond * share, max(1, limit.burst * share)) : (0, 0)
    }

    public var statistics: Statistics {
        var statistics = counters
        statistics.waiting = line.count
        return statistics
    }

    /// Until when nothing passes because the provider said so; `nil`: open.
    public func closedUntil(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        countedUntil > now ? countedUntil : nil
    }

    // MARK: - Passing

    /// Passes if that is possible now and nobody waits already.
    public func tryAcquire(at now: ContinuousClock.Instant) -> Bool {
        guard line.isEmpty, takeToken(at: now) else { return false }
        counters.admitted += 1
        return true
    }

    /// Passes when it is this request's turn.
    /// - Parameter deadline: when the call must begin at the latest: leave time for the call itself.
    /// - Throws: at once when its turn would come later; or while waiting, when a closure or a smaller share moves it.
    public func acquire(before deadline: Deadline, at now: ContinuousClock.Instant) async throws(LimitError) {
        if tryAcquire(at: now) { return }
        let wait = wait(behind: line.count, at: now)
        guard let wait, now + wait <= deadline.instant else {
            counters.refused += 1
            throw .tooLate(retryAfter: wait)
        }
        let waiter = Waiter()
        line.append(Entry(waiter: waiter, deadline: deadline))
        counters.waited += 1
        if line.count == 1 { setAlarm(at: now + wait) }
        switch await waiter.verdict() {
        case .served: return
        case .tooLate(let retryAfter): throw .tooLate(retryAfter: retryAfter)
        case .cancelled:
            counters.cancelled += 1
            line.removeAll { $0.waiter === waiter }
            throw .cancelled
        }
    }

    /// Takes back what `acquire` gave and nobody used: the next in line may have it.
    public func giveBack(at now: ContinuousClock.Instant) {
        counters.admitted -= 1
        guard limit != nil else { return }
        count(until: now)
        tokens = min(closedUntil(at: now) == nil ? capacity : min(1, capacity), tokens + 1)
        serve(at: now)
    }

    // MARK: - What changes the bucket

    /// At each rebalance. A smaller share counts at once, also for tokens saved up; a larger one brings a larger bucket
    /// but no tokens, so that what another worker has just used is not used again.
    public func setShare(_ share: Double, at now: ContinuousClock.Instant) {
        count(until: now)
        (rate, capacity) = Self.bucket(limit, share)
        tokens = min(tokens, capacity)
        reviewLine(at: now)
    }

    /// The provider asked not to be called (`Retry-After`, Google's RetryInfo): nothing passes until then, whoever was
    /// told. The bucket stands still meanwhile and opens with one token at most.
    public func close(until end: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
        count(until: now)
        let end = min(end, now + longestClosure)
        guard end > countedUntil else { return }
        countedUntil = end
        if limit != nil { tokens = min(tokens, 1) }
        reviewLine(at: now)
    }

    /// Refuses those whose turn has moved behind their deadline.
    private func reviewLine(at now: ContinuousClock.Instant) {
        guard !line.isEmpty else { return }
        var kept: Deque<Entry> = []
        for entry in line {
            let wait = wait(behind: kept.count, at: now)
            if let wait, now + wait <= entry.deadline.instant {
                kept.append(entry)
            } else if entry.waiter.settle(.tooLate(retryAfter: wait)) {
                counters.refused += 1
            }
        }
        line = kept
        serve(at: now)
    }

    // MARK: - Tokens

    private func count(until now: ContinuousClock.Instant) {
        guard now > countedUntil else { return }
        if limit != nil {
            let top = line.isEmpty ? capacity : max(capacity, 1 + min(1, rate * Self.lateness))
            tokens = min(top, tokens + countedUntil.duration(to: now).inSeconds * rate)
        }
        countedUntil = now
    }

    private func takeToken(at now: ContinuousClock.Instant) -> Bool {
        if limit == nil { return now >= countedUntil }
        count(until: now)
        guard now >= countedUntil, tokens >= Self.whole else { return false }
        tokens = max(0, tokens - 1)
        return true
    }

    /// Until the turn of whoever stands behind so many others; `nil`: never at this share.
    private func wait(behind others: Int, at now: ContinuousClock.Instant) -> Duration? {
        let closed = max(.zero, now.duration(to: countedUntil))
        guard limit != nil else { return closed }
        let missing = Double(others + 1) - tokens
        guard missing > 0 else { return closed }
        return rate > 0 ? closed + Duration(roundingUp: missing / rate) : nil
    }

    // MARK: - The line

    private func serve(at now: ContinuousClock.Instant) {
        while let first = line.first, takeToken(at: now) {
            line.removeFirst()
            if first.waiter.settle(.served) {
                counters.admitted += 1
            } else if limit != nil {
                tokens += 1  // he was cancelled a moment ago: the next may have it
            }
        }
        if !line.isEmpty, let wait = wait(behind: 0, at: now) { setAlarm(at: now + wait) }
    }

    /// One alarm stands at a time, for the first in line; those overtaken by an earlier one do nothing.
    private func setAlarm(at due: ContinuousClock.Instant) {
        if let alarm, alarm <= due { return }
        alarm = due
        timekeeper.schedule(at: due) { [weak self] in
            guard let self, self.alarm == due else { return }
            self.alarm = nil
            serve(at: timekeeper.now)
        }
    }
}
