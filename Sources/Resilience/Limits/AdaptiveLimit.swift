public import Basics

/// Bounds the calls to a provider that may be under way: as many as the setting allows while the provider is healthy, and
/// fewer while it is slow, so that the calls let through are answered in time. `LimitController` decides how many; this
/// type lets calls pass, by class and tenant: see `CallOrder`.
///
/// Not `Sendable`: it belongs to one actor, whose isolation `acquire` keeps. A call that does not wait costs no lock and no
/// allocation.
public final class AdaptiveLimit {
    public struct Configuration: Sendable, Hashable {
        /// The most calls under way, at least 1: this loop's part of `worker.concurrency`.
        public var maximum: Int
        /// The fewest calls that the limit goes down to, 1 to `maximum`. The default is 1, because a provider that can do only
        /// one call at a time should get one.
        public var minimum = 1
        /// `providers.<name>.adaptiveConcurrency`; when off, `maximum` stands.
        public var isAdaptive = true

        public init(maximum: Int) { self.maximum = max(1, maximum) }
    }

    public struct Statistics: Sendable, Hashable {
        public var limit = 0
        public var inFlight = 0
        public var waiting = 0
        public var admitted = 0
        public var waited = 0
        /// The number of calls refused because their turn would come too late for their deadline.
        public var refused = 0
        public var cancelled = 0
    }

    /// A call that waits.
    private final class Entry {
        let waiter = Waiter()
        /// The moment from which a call that begins has no time left to be answered.
        let giveUp: Instant
        var ticket: CallOrder<Entry>.Ticket?

        init(giveUp: Instant) { self.giveUp = giveUp }
    }

    /// The largest share of its time that a call waits for its turn. The rest is left for the provider, which may get slower
    /// meanwhile.
    private static let longestWait = 0.4

    private let timekeeper: any Timekeeper
    private(set) var controller: LimitController
    private var inFlight = 0
    private let line: CallOrder<Entry>
    private var counters = Statistics()

    public init(_ configuration: Configuration, timekeeper: any Timekeeper, fairness: FairTerms = FairTerms()) {
        line = CallOrder(fairness)
        self.timekeeper = timekeeper
        controller = LimitController(
            bounds: configuration.minimum...configuration.maximum, isAdaptive: configuration.isAdaptive)
    }

    public var statistics: Statistics {
        var statistics = counters
        statistics.limit = controller.limit
        statistics.inFlight = inFlight
        statistics.waiting = line.count
        return statistics
    }

    /// The mean duration of the last calls; zero before the first.
    public var expectedLatency: Duration { Duration(roundingUp: controller.latency) }

    /// Changes the most calls under way, at least 1, to which the limit may come.
    public func setMaximum(_ maximum: Int) {
        controller.setMaximum(max(1, maximum))
        serve(at: timekeeper.now)
    }

    /// True when `acquire` would not wait now.
    public var hasRoom: Bool { line.isEmpty && inFlight < controller.limit }

    /// True while few calls wait that would go before a new one of the class.
    public func hasShortLine(for requestClass: RequestClass) -> Bool {
        (requestClass == .batch ? line.count : line.count(of: .interactive)) < max(4, controller.limit / 8)
    }

    // MARK: - Passing

    /// Lets a call pass once there is room and its turn has come.
    /// - Returns: the right to one call, ended by `finish`.
    /// - Parameter owner: what `promote` finds the call by.
    /// - Parameter latest: the moment after which the call may not begin; `nil` where only the deadline counts.
    /// - Throws: at once when the turn would come too late for an answer before `deadline`.
    public func acquire(
        in flow: Flow = .standard, for owner: AnyObject? = nil, before deadline: Deadline,
        startingBefore latest: Instant? = nil, at now: Instant
    ) async throws(LimitError) -> Permit {
        if hasRoom { return try enter(before: deadline, at: now) }
        let (budget, need) = budget(before: deadline, at: now)
        let wait = timeToTurn(in: flow)
        let timeToLatest = latest.map { now.duration(to: $0).inSeconds } ?? .infinity
        let longestWait = min(budget - need, budget * Self.longestWait, timeToLatest)
        guard wait <= longestWait else { throw refuse(retryAfter: wait) }
        let entry = Entry(giveUp: now + Duration(roundingUp: longestWait))
        entry.ticket = line.append(entry, in: flow, for: owner).ticket
        counters.waited += 1
        let timer = timekeeper.schedule(at: entry.giveUp) { [weak self, weak entry] in
            guard let self, let entry else { return }
            remove(entry)
            entry.waiter.settle(.tooLate())
        }
        let verdict = await entry.waiter.verdict()
        timer.cancel()
        switch verdict {
        case .served: return Permit(limit: self, start: timekeeper.now)
        case .tooLate: throw refuse(retryAfter: timeToTurn(in: flow))
        case .cancelled:
            counters.cancelled += 1
            remove(entry)
            throw .cancelled
        }
    }

    private func remove(_ entry: Entry) {
        if let ticket = entry.ticket { line.remove(ticket) }
    }

    /// Has a call that waits go on waiting in another flow: see `RateLimiter.promote`.
    public func promote(_ owner: AnyObject, to flow: Flow) {
        if let (entry, ticket) = line.move(elementOf: owner, to: flow) { entry.ticket = ticket }
    }

    /// Refuses all calls that wait, because the provider must not be asked any more.
    public func refuseAll() {
        for entry in line.removeAll(where: { _ in true }) { entry.waiter.settle(.tooLate()) }
    }

    /// Does what `acquire` does, where there is room and no need to wait.
    public func enter(before deadline: Deadline, at now: Instant) throws(LimitError) -> Permit {
        let (budget, need) = budget(before: deadline, at: now)
        // One call may always try, because what is known of the latency may be out of date.
        guard budget >= need || inFlight == 0 else { throw refuse(retryAfter: need) }
        return Permit(limit: self, start: admit(at: now))
    }

    /// Returns the time that a call has and the time that it needs, in seconds.
    private func budget(before deadline: Deadline, at now: Instant) -> (Double, need: Double) {
        let budget = deadline.remaining(at: now).inSeconds
        controller.noteBudget(budget)
        return (budget, controller.timeNeeded)
    }

    private func admit(at now: Instant) -> Instant {
        inFlight += 1
        counters.admitted += 1
        controller.noteStart(at: now)
        return now
    }

    private func refuse(retryAfter: Double) -> LimitError {
        counters.refused += 1
        return .tooLate(retryAfter: retryAfter > 0 && retryAfter.isFinite ? Duration(roundingUp: retryAfter) : nil)
    }

    /// Returns the expected wait in seconds: all calls in front must leave, and in the time that one call takes, as many leave
    /// as the limit allows.
    private func timeToTurn(in flow: Flow) -> Double {
        let ahead = line.ahead(of: flow) + 1 + Double(max(0, inFlight - controller.limit))
        return controller.expected * ahead / Double(controller.limit)
    }

    fileprivate func release(_ signal: LoadSignal, start: Instant, at now: Instant) {
        inFlight -= 1
        controller.noteEnd(signal, start: start, at: now)
        serve(at: now)
    }

    // MARK: - The line

    private func serve(at now: Instant) {
        while inFlight < controller.limit, let first = line.popFirst() {
            if first.giveUp < now {
                first.waiter.settle(.tooLate())
            } else if first.waiter.settle(.served) {
                _ = admit(at: now)
            }
        }
    }
}

extension AdaptiveLimit {
    /// The right to one call. Dropped without `finish`, it is given back at once and its latency is not counted.
    public struct Permit: ~Copyable {
        private let limit: AdaptiveLimit
        /// The moment at which the call began.
        public let start: Instant
        private var isFinished = false

        fileprivate init(limit: AdaptiveLimit, start: Instant) {
            self.limit = limit
            self.start = start
        }

        deinit {
            if isPutBack(.slotNotReturned) { return }
            if !isFinished { limit.release(.ignored, start: start, at: limit.timekeeper.now) }
        }

        /// Notes how the call ended, and lets the next one pass.
        public consuming func finish(_ signal: LoadSignal, at now: Instant) {
            isFinished = true
            limit.release(signal, start: start, at: now)
        }
    }
}
