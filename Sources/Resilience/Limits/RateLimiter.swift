public import Basics

/// Lets requests to a provider go at a rate. It is a token bucket whose waiting requests are served by class and tenant, and
/// within one flow in the order in which they came: see `CallOrder`.
///
/// In every second at most `(perSecond + burst) * share` requests pass. The burst's part is at least 1, because a smaller
/// bucket would never hold a whole token. Virtual scheduling (GCRA) was not chosen: the share at a rebalance and a closure
/// by `Retry-After` must change while tasks wait, which here is a number, and there would be turns already given out.
///
/// Not `Sendable`: it belongs to one actor, whose isolation `acquire` keeps. A request that does not wait costs no lock and
/// no allocation.
public final class RateLimiter {
    public struct Statistics: Sendable, Hashable {
        /// The number of requests let through, those that waited among them.
        public var admitted = 0
        public var waited = 0
        /// The number of requests refused because their turn would come too late for their deadline.
        public var refused = 0
        public var cancelled = 0
        /// The number of requests waiting now.
        public var waiting = 0
        /// Those of `admitted` and `waiting` that are of the class `batch`.
        public var admittedBatch = 0
        public var waitingBatch = 0
        /// The number of tenants, each counted once for a class, whose requests wait now.
        public var waitingTenants = 0
    }

    /// A request that waits.
    private final class Entry {
        let waiter = Waiter()
        let deadline: Deadline
        var flow: Flow
        var ticket: CallOrder<Entry>.Ticket?
        /// Ends the wait at the deadline, where that must be watched.
        var timer: ScheduledAction?

        init(_ deadline: Deadline, _ flow: Flow) {
            self.deadline = deadline
            self.flow = flow
        }
    }

    /// A token that comes due while a request waits is kept for that request this long. Timers fire up to a millisecond or
    /// two late, and a bucket of 1 would otherwise lose that time on every token.
    private static let lateness = 0.005
    /// Parts of a token, added as floating-point numbers, may stay a little below a whole one.
    private static let whole = 1 - 1e-9

    /// The limit of which this loop has a share.
    public private(set) var limit: RateLimit?
    private let longestClosure: Duration
    private let timekeeper: any Timekeeper
    private var rate: Double
    private var capacity: Double
    /// This loop's shares, 0 to 1: of the moment, and the one that it will have soon.
    private var (share, prospect) = (0.0, 0.0)
    /// The moment from which on nothing passes until the share is set again; `nil` where it holds for good.
    private var shareEnd: Instant?
    /// The rate by which turns are foretold, where that is more than the rate of the moment.
    private var prospectiveRate = 0.0
    private var tokens: Double
    /// The moment up to which `tokens` are counted; it lies in the future while the bucket is closed.
    private var countedUntil: Instant
    private let line: CallOrder<Entry>
    private var alarm: Instant?
    private var counters = Statistics()
    /// Called when requests that waited have had their turn, or may have it sooner.
    public var onServed: (() -> Void)?

    /// - Parameter limit: the key's limit. `nil`: there is none, and only `close` holds requests back.
    /// - Parameter share: this loop's part of the limit, 0 to 1. The bucket begins full, so in `shared` mode begin with 0.
    /// - Parameter longestClosure: the longest time for which a provider can close the bucket. Beyond ten minutes it is the
    ///   breaker's business.
    public init(
        limit: RateLimit?, share: Double, timekeeper: any Timekeeper, longestClosure: Duration = .seconds(600),
        fairness: FairTerms = FairTerms()
    ) {
        line = CallOrder(fairness)
        self.limit = limit
        self.longestClosure = longestClosure
        self.timekeeper = timekeeper
        self.share = share
        (rate, capacity) = Self.bucket(limit, share: share)
        tokens = capacity
        countedUntil = timekeeper.now
    }

    private static func bucket(_ limit: RateLimit?, share: Double) -> (rate: Double, capacity: Double) {
        guard let limit else { return (.infinity, .infinity) }
        let share = min(max(share, 0), 1)
        return share > 0 ? (limit.perSecond * share, max(1, limit.burst * share)) : (0, 0)
    }

    public var statistics: Statistics {
        var statistics = counters
        statistics.waiting = line.count
        statistics.waitingBatch = line.count(of: .batch)
        statistics.waitingTenants = line.flowCount
        return statistics
    }

    /// Returns the moment until which nothing passes because the provider asked for that; `nil` while requests pass.
    public func closedUntil(at now: Instant) -> Instant? {
        countedUntil > now ? countedUntil : nil
    }

    /// How much later than its turn a request may be asked to wait for it: long enough to keep the rate in use whatever the loop does
    /// meanwhile, short enough that what comes later and is more urgent is not far behind.
    private static let shortLine = 0.1

    /// True while few requests wait that would go before a new one of the class.
    public func hasShortLine(for requestClass: RequestClass) -> Bool {
        let waiting = requestClass == .batch ? line.count : line.count(of: .interactive)
        return waiting == 0 || Double(waiting) < max(4, min(rate * Self.shortLine, 1000))
    }

    /// The requests a second that this loop may let through, now or soon; `nil` without a limit.
    public var pace: Double? { limit == nil ? nil : max(rate, prospectiveRate) }

    // MARK: - Passing

    /// Lets a request pass if that is possible now and no other waits already.
    public func tryAcquire(as requestClass: RequestClass = .interactive, at now: Instant) -> Bool {
        guard line.isEmpty, takeToken(at: now) else { return false }
        noteAdmitted(requestClass)
        return true
    }

    private func noteAdmitted(_ requestClass: RequestClass) {
        counters.admitted += 1
        if requestClass == .batch { counters.admittedBatch += 1 }
    }

    /// Lets a request pass when its turn has come.
    /// - Parameters:
    ///   - owner: what `promote` finds the request by.
    ///   - deadline: the latest moment for the call to begin, which leaves time for the call itself.
    /// - Throws: at once when the turn would come later, and during the wait when a closure, a smaller share or more urgent requests
    ///   move it there.
    public func acquire(
        in flow: Flow = .standard, for owner: AnyObject? = nil, before deadline: Deadline, at now: Instant
    ) async throws(LimitError) {
        if tryAcquire(as: flow.requestClass, at: now) { return }
        let wait = wait(behind: line.ahead(of: flow), at: now)
        guard let wait, now + wait <= deadline.instant else {
            counters.refused += 1
            throw .tooLate(retryAfter: wait)
        }

        let entry = Entry(deadline, flow)
        append(entry, for: owner, at: now)
        let verdict = await entry.waiter.verdict()
        entry.timer?.cancel()
        switch verdict {
        case .served: return
        case .tooLate(let retryAfter): throw .tooLate(retryAfter: retryAfter)
        case .cancelled:
            counters.cancelled += 1
            remove(entry)
            throw .cancelled
        }
    }

    private func append(_ entry: Entry, for owner: AnyObject?, at now: Instant) {
        let flows = line.flowCount
        entry.ticket = line.append(entry, in: entry.flow, for: owner).ticket
        counters.waited += 1
        if line.count == 1 { setAlarmForFirst(at: now) }

        // In one flow nothing overtakes: what was foretold holds. From the second flow on each request watches its own deadline.
        guard line.flowCount > 1 else { return }
        if flows > 1 { watchDeadline(of: entry) } else { line.forEach(watchDeadline) }
    }

    private func watchDeadline(of entry: Entry) {
        guard entry.timer == nil else { return }
        entry.timer = timekeeper.schedule(at: entry.deadline.instant) { [weak self, weak entry] in
            guard let self, let entry else { return }
            let retryAfter = wait(behind: line.ahead(of: entry.flow), at: timekeeper.now)
            guard entry.waiter.settle(.tooLate(retryAfter: retryAfter)) else { return }
            counters.refused += 1
            remove(entry)
        }
    }

    private func remove(_ entry: Entry) {
        if let ticket = entry.ticket { line.remove(ticket) }
    }

    /// Has a request that waits go on waiting in another flow, because a more urgent request needs its answer too.
    public func promote(_ owner: AnyObject, to flow: Flow) {
        guard let (entry, ticket) = line.move(elementOf: owner, to: flow) else { return }
        entry.flow = flow
        entry.ticket = ticket
    }

    /// Refuses all requests that wait, because the provider must not be asked any more.
    public func refuseAll() {
        for entry in line.removeAll(where: { _ in true }) { entry.waiter.settle(.tooLate()) }
    }

    /// Takes back a turn that was not used, so that the next in line may have it.
    public func giveBack(as requestClass: RequestClass = .interactive, at now: Instant) {
        counters.admitted -= 1
        if requestClass == .batch { counters.admittedBatch -= 1 }
        guard limit != nil else { return }
        count(until: now)
        tokens = min(closedUntil(at: now) == nil ? capacity : min(1, capacity), tokens + 1)
        serve(at: now)
    }

    // MARK: - What changes the bucket

    /// Changes this loop's share. A smaller share counts at once, also for tokens saved up. A larger one brings a larger
    /// bucket but no tokens, so that what another worker has just used is not used again.
    /// - Parameter end: the moment from which on nothing passes until the share is set again, because others may have it
    ///   then. `nil`: the share holds until then.
    /// - Parameter prospect: the share that this loop will have soon, 0 to 1. A request is not refused for a share that is
    ///   smaller for a moment.
    public func setShare(
        _ share: Double, until end: Instant? = nil, prospect: Double = 0,
        at now: Instant
    ) {
        count(until: now)
        shareEnd = end
        (self.share, self.prospect) = (share, prospect)
        fitBucket(at: now)
    }

    /// Changes the limit of which this loop has a share. As with a share, a lower limit counts at once, also for tokens saved
    /// up, and a higher one brings no tokens.
    public func setLimit(_ limit: RateLimit, at now: Instant) {
        guard self.limit != nil, self.limit != limit else { return }
        count(until: now)
        self.limit = limit
        fitBucket(at: now)
    }

    private func fitBucket(at now: Instant) {
        (rate, capacity) = Self.bucket(limit, share: share)
        prospectiveRate = Self.bucket(limit, share: prospect).rate
        tokens = min(tokens, capacity)
        if isPutBack(.gainComesFull) { tokens = capacity }
        reviewLine(at: now)
    }

    /// Lets nothing pass until a moment, because the provider asked for that (`Retry-After`, Google's RetryInfo). It holds for
    /// all requests, whichever was told. The bucket stands still meanwhile and opens with one token at most.
    public func close(until end: Instant, at now: Instant) {
        count(until: now)
        let end = min(end, now + longestClosure)
        guard end > countedUntil else { return }
        countedUntil = end
        if limit != nil { tokens = min(tokens, 1) }
        reviewLine(at: now)
    }

    /// Refuses the waiting requests whose turn has moved behind their deadline.
    private func reviewLine(at now: Instant) {
        guard !line.isEmpty else { return }
        line.keep { entry, ahead in
            let wait = wait(behind: ahead, at: now)
            if let wait, now + wait <= entry.deadline.instant { return true }
            if entry.waiter.settle(.tooLate(retryAfter: wait)) { counters.refused += 1 }
            return false
        }
        serve(at: now)
    }

    // MARK: - Tokens

    private func count(until now: Instant) {
        guard now > countedUntil else { return }
        if limit != nil {
            let top = line.isEmpty ? capacity : max(capacity, 1 + min(1, rate * Self.lateness))
            let counted = max(.zero, countedUntil.duration(to: min(now, shareEnd ?? now)))
            tokens = min(top, tokens + counted.inSeconds * rate)
        }
        countedUntil = now
    }

    private func takeToken(at now: Instant) -> Bool {
        if limit == nil { return now >= countedUntil }
        if isPutBack(.bucketNeverEmpty) { return true }
        count(until: now)
        guard now >= countedUntil, tokens >= Self.whole, shareEnd.map({ now < $0 }) ?? true else { return false }
        tokens = max(0, tokens - 1)
        return true
    }

    /// Returns the time until the turn of a request with so many others in front; `nil` when the share never gives it one.
    private func wait(behind others: Double, at now: Instant) -> Duration? {
        wait(behind: others, atRate: max(rate, prospectiveRate), at: now)
    }

    private func wait(behind others: Double, atRate rate: Double, at now: Instant) -> Duration? {
        let closed = max(.zero, now.duration(to: countedUntil))
        guard limit != nil else { return closed }
        let missing = others + 1 - tokens
        guard missing > 0 else { return closed }
        return rate > 0 ? closed + Duration(roundingUp: missing / rate) : nil
    }

    // MARK: - The line

    private func serve(at now: Instant) {
        while !line.isEmpty, takeToken(at: now), let next = line.popFirst() {
            if next.waiter.settle(.served) {
                noteAdmitted(next.flow.requestClass)
            } else if limit != nil {
                tokens += 1  // its task was cancelled a moment ago: the next may have the token
            }
        }
        if !line.isEmpty { setAlarmForFirst(at: now) }
        onServed?()
    }

    /// Sets the alarm for the first in line. Only one counts at a time: an alarm that was overtaken by an earlier one does
    /// nothing when it goes off. None is set where the turn comes after the share's end: the setter of the next share looks
    /// at the line.
    private func setAlarmForFirst(at now: Instant) {
        guard let wait = wait(behind: 0, atRate: rate, at: now) else { return }
        let due = now + wait
        if let shareEnd, due >= shareEnd { return }
        if let alarm, alarm <= due { return }
        alarm = due
        timekeeper.schedule(at: due) { [weak self] in
            guard let self, self.alarm == due else { return }
            self.alarm = nil
            serve(at: timekeeper.now)
        }
    }
}
