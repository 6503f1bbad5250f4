internal import DequeModule

/// How many calls to a provider may be under way: fixed by setting while it is healthy, fewer while it is slow, so that
/// those let through are answered in time. `LimitController` says how many; this type lets them pass, first come first
/// served.
///
/// Not `Sendable`: belongs to one actor, whose isolation `acquire` keeps. Costs no lock and no allocation unless it
/// waits.
public final class AdaptiveLimit {
    public struct Configuration: Sendable, Hashable {
        /// The most under way, at least 1: this loop's part of `worker.concurrency`.
        public var maximum: Int
        /// The fewest it goes down to, 1 to `maximum`. One: a provider that can do only one at a time gets one.
        public var minimum = 1
        /// `providers.<name>.adaptiveConcurrency`; when off, `maximum` stands.
        public var isAdaptive = true

        public init(maximum: Int) { self.maximum = max(1, maximum) }
    }

    /// How a call ended.
    public enum Outcome: Sendable, Hashable {
        /// The provider answered, whatever it said: its latency counts.
        case answered
        /// The provider did not answer in time: its latency is at least the time it had.
        case timedOut
        /// The provider said that it has too much to do (503, or 429 without a quota behind it).
        case overloaded
        /// Says nothing about the provider's load: cancelled, no connection.
        case ignored
    }

    public struct Statistics: Sendable, Hashable {
        public var limit = 0
        public var inFlight = 0
        public var waiting = 0
        public var admitted = 0
        public var waited = 0
        /// Refused as too late for their deadline.
        public var refused = 0
        public var cancelled = 0
    }

    private struct Entry {
        let waiter: Waiter
        /// When a call that begins has no time left to be answered.
        let giveUp: ContinuousClock.Instant
    }

    /// Share of its time that a call waits for its turn at most: what the provider may need when it gets slower
    /// meanwhile is left.
    private static let patience = 0.4

    private let timekeeper: any Timekeeper
    private(set) var controller: LimitController
    private var inFlight = 0
    private var line: Deque<Entry> = []
    private var alarm: ContinuousClock.Instant?
    private var counters = Statistics()

    public init(_ configuration: Configuration, timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        controller = LimitController(configuration)
    }

    public var statistics: Statistics {
        var statistics = counters
        statistics.limit = controller.limit
        statistics.inFlight = inFlight
        statistics.waiting = line.count
        return statistics
    }

    /// How long a call takes at present, by the mean of the last ones; zero before the first.
    public var expectedLatency: Duration { Duration(roundingUp: controller.latency) }

    /// Whether `acquire` would not wait now.
    public var hasRoom: Bool { line.isEmpty && inFlight < controller.limit }

    // MARK: - Passing

    /// Passes when there is room and it is this call's turn.
    /// - Returns: the right to one call, ended by `finish`.
    /// - Throws: at once when its turn would come too late to be answered before `deadline`.
    public func acquire(before deadline: Deadline, at now: ContinuousClock.Instant) async throws(LimitError) -> Slot {
        if hasRoom { return try enter(before: deadline, at: now) }
        let (budget, need) = budget(before: deadline, at: now)
        let wait = timeToTurn
        let patience = min(budget - need, budget * Self.patience)
        guard wait <= patience else { throw refuse(retryAfter: wait) }
        let waiter = Waiter()
        let giveUp = now + Duration(roundingUp: patience)
        line.append(Entry(waiter: waiter, giveUp: giveUp))
        counters.waited += 1
        setAlarm(at: giveUp)
        switch await waiter.verdict() {
        case .served: return Slot(limit: self, start: timekeeper.now)
        case .tooLate: throw refuse(retryAfter: timeToTurn)
        case .cancelled:
            counters.cancelled += 1
            line.removeAll { $0.waiter === waiter }
            throw .cancelled
        }
    }

    /// As `acquire`, where there is room.
    public func enter(before deadline: Deadline, at now: ContinuousClock.Instant) throws(LimitError) -> Slot {
        let (budget, need) = budget(before: deadline, at: now)
        // Somebody always may try: what is known of the latency may be old.
        guard budget >= need || inFlight == 0 else { throw refuse(retryAfter: need) }
        return Slot(limit: self, start: admit(at: now))
    }

    /// What a call has and what it needs, in seconds.
    private func budget(before deadline: Deadline, at now: ContinuousClock.Instant) -> (Double, need: Double) {
        let budget = deadline.remaining(at: now).inSeconds
        controller.noteBudget(budget)
        return (budget, controller.timeNeeded)
    }

    private func admit(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        inFlight += 1
        counters.admitted += 1
        controller.noteStart(at: now)
        return now
    }

    private func refuse(retryAfter: Double) -> LimitError {
        counters.refused += 1
        return .tooLate(retryAfter: retryAfter > 0 && retryAfter.isFinite ? Duration(roundingUp: retryAfter) : nil)
    }

    /// In seconds: so many must leave before, of as many as the limit in the time that one takes.
    private var timeToTurn: Double {
        let ahead = line.count + 1 + max(0, inFlight - controller.limit)
        return controller.expected * Double(ahead) / Double(controller.limit)
    }

    fileprivate func release(_ outcome: Outcome, start: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
        inFlight -= 1
        controller.noteEnd(outcome, start: start, at: now)
        serve(at: now)
    }

    // MARK: - The line

    private func serve(at now: ContinuousClock.Instant) {
        while inFlight < controller.limit, let first = line.popFirst() {
            if first.giveUp < now {
                first.waiter.settle(.tooLate())
            } else if first.waiter.settle(.served) {
                _ = admit(at: now)
            }
        }
    }

    private func setAlarm(at due: ContinuousClock.Instant) {
        if let alarm, alarm <= due { return }
        alarm = due
        timekeeper.schedule(at: due) { [weak self] in
            guard let self, self.alarm == due else { return }
            self.alarm = nil
            giveUp(at: timekeeper.now)
        }
    }

    private func giveUp(at now: ContinuousClock.Instant) {
        for entry in line where entry.giveUp <= now { entry.waiter.settle(.tooLate()) }
        line.removeAll { $0.giveUp <= now }
        if let next = line.lazy.map(\.giveUp).min() { setAlarm(at: next) }
    }
}

extension AdaptiveLimit {
    /// The right to one call. Dropped without `finish`, it is given back at once and its latency is not counted.
    public struct Slot: ~Copyable {
        private let limit: AdaptiveLimit
        /// When the call began.
        public let start: ContinuousClock.Instant
        private var isFinished = false

        fileprivate init(limit: AdaptiveLimit, start: ContinuousClock.Instant) {
            self.limit = limit
            self.start = start
        }

        deinit { if !isFinished { limit.release(.ignored, start: start, at: limit.timekeeper.now) } }

        /// Says how the call ended.
        public consuming func finish(_ outcome: Outcome, at now: ContinuousClock.Instant) {
            isFinished = true
            limit.release(outcome, start: start, at: now)
        }
    }
}
