public import Basics

/// Stops asking a provider that fails: calls are refused at once while it is open, and a few probes decide when it
/// closes again. One per provider and API key.
///
/// Its states are those of the provider wherever they are shown: see docs/providers-and-quotas.md, "The states of a
/// provider". `paused` is one of them, although the breaker lets calls pass then: the rate limiter has them wait.
///
/// Not `Sendable`: belongs to one actor; all methods are synchronous and cost no lock and no allocation.
public final class CircuitBreaker {
    /// How a call ended, as its caller sees it.
    public enum Outcome: Sendable, Hashable {
        case success
        /// The provider's fault, or nobody's: 5xx, timeout, unreachable, an answer that is none.
        case failure
        /// It answered, but took longer than anybody should wait.
        case slow
        /// Says nothing about the provider: a 4xx of the request's own making, or cancelled.
        case ignored
        /// The provider need not be called again for so long. Opens the breaker at once.
        case trip(for: Duration, because: Reason)
    }

    /// A shorter pause is no transition: requests wait for its end, and there may be one every second.
    private static let shortestToldPause = Duration.seconds(10)

    /// The call was not let through.
    public struct Rejection: Error, Hashable, Sendable {
        /// The time after which asking again may be worth it; more than zero.
        public let retryAfter: Duration
        /// Why the breaker is not closed.
        public let reason: Reason?

        public init(retryAfter: Duration, reason: Reason?) {
            self.retryAfter = retryAfter
            self.reason = reason
        }
    }

    public struct Statistics: Sendable, Hashable {
        public var permitted = 0
        public var rejected = 0
        public var successes = 0
        public var failures = 0
        public var slowCalls = 0
        public var ignored = 0
        /// How often it opened.
        public var openings = 0
    }

    private struct Counts: AdditiveArithmetic, Sendable {
        var calls = 0
        var failures = 0
        var slow = 0
        static let zero = Counts()

        init(calls: Int = 0, failures: Int = 0, slow: Int = 0) {
            self.calls = calls
            self.failures = failures
            self.slow = slow
        }

        init(_ outcome: Outcome) {
            switch outcome {
            case .success: self.init(calls: 1)
            case .failure: self.init(calls: 1, failures: 1)
            case .slow: self.init(calls: 1, slow: 1)
            case .ignored, .trip: self.init()
            }
        }

        static func + (a: Counts, b: Counts) -> Counts {
            Counts(calls: a.calls + b.calls, failures: a.failures + b.failures, slow: a.slow + b.slow)
        }
        static func - (a: Counts, b: Counts) -> Counts {
            Counts(calls: a.calls - b.calls, failures: a.failures - b.failures, slow: a.slow - b.slow)
        }
    }

    private let configuration: Configuration
    /// Told of each transition, in the owner's isolation, after it.
    public var onTransition: ((Transition) -> Void)?
    public private(set) var statistics = Statistics()

    /// The state as of the last call, without pauses: an open breaker turns half-open when the first probe asks.
    public private(set) var state = State.closed
    /// Why it opened last; `nil` while it is closed.
    public private(set) var reason: Reason?
    /// The pause that the provider asked for last, until a call is permitted after its end.
    private var pause: (end: Instant, reason: Reason, isTold: Bool)?
    /// Counts the transitions. A permit notes it, because results of calls from before a transition say nothing about
    /// after it.
    public private(set) var epoch: UInt = 0
    private var window: SlidingWindow<Counts>
    private var openUntil: Instant?
    /// True while a person's order keeps it open. No probe is let through then.
    public private(set) var isHeldOpen = false
    /// True when probes are to decide once the order is taken back, because they did before it.
    private var probesAfterHold = false
    /// Openings since it was last closed by good probes.
    private var openingsInARow = 0
    private var probesOut = 0
    private var probes = Counts.zero

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        window = SlidingWindow(span: configuration.window)
    }

    /// Returns the instant until which every call is refused; `nil` unless the breaker is open.
    public func openUntil(at now: Instant) -> Instant? {
        if isHeldOpen { return max(openUntil ?? now, now + Self.orderReview) }
        guard let openUntil, openUntil > now else { return nil }
        return openUntil
    }

    /// The provider's state as it is shown: `paused` where the breaker is closed and a pause lasts.
    public func state(at now: Instant) -> State {
        state == .closed && isPaused(at: now) ? .paused : state
    }

    /// Why the provider's state is not `closed`.
    public func reason(at now: Instant) -> Reason? {
        if isHeldOpen { return .pausedByOrder }
        return state == .closed && isPaused(at: now) ? pause?.reason : reason
    }

    private func isPaused(at now: Instant) -> Bool { pause.map { now < $0.end } ?? false }

    // MARK: - Calls

    /// Returns why no call may be made now; `nil` where one may.
    public func rejection(at now: Instant) -> Rejection? {
        switch state {
        case .closed, .paused: return nil
        case .open: return openUntil(at: now).map { rejection(now.duration(to: $0)) }
        case .halfOpen:
            guard probesOut + probes.calls >= configuration.probes else { return nil }
            return rejection(min(configuration.openDuration, .seconds(1)))
        }
    }

    /// Permits a call that `rejection` says may be made.
    /// - Returns: a permit that the call ends with `finish`; one that is dropped counts as `ignored`.
    public func take(at now: Instant) -> Permit {
        switch state {
        case .closed, .paused: if pause != nil { endPause(at: now) }
        case .open:
            change(to: .halfOpen)
            probesOut += 1
        case .halfOpen: probesOut += 1
        }
        statistics.permitted += 1
        return Permit(breaker: self, epoch: epoch)
    }

    /// Asks whether a call may be made, and permits it.
    public func permit(at now: Instant) throws(Rejection) -> Permit {
        if let rejection = rejection(at: now) {
            noteRejected()
            throw rejection
        }
        return take(at: now)
    }

    /// Counts a call that was not made because the breaker is open.
    public func noteRejected() { statistics.rejected += 1 }

    /// Returns why a call that was permitted must not begin any more; `nil` where it may.
    public func rejection(ofCallPermittedIn permitted: UInt, at now: Instant) -> Rejection? {
        guard permitted != epoch || isHeldOpen else { return nil }
        return openUntil(at: now).map { rejection(now.duration(to: $0)) }
    }

    private func rejection(_ retryAfter: Duration) -> Rejection {
        Rejection(retryAfter: retryAfter, reason: isHeldOpen ? .pausedByOrder : reason)
    }

    // MARK: - A person's order

    /// The time after which a call is worth trying that was refused by order. Nobody knows when the order is taken back.
    private static let orderReview = Duration.seconds(30)

    /// Opens the breaker, also one that is not enabled, until `release`. Calls that are under way go on.
    public func holdOpen(at now: Instant) {
        guard !isHeldOpen else { return }
        (isHeldOpen, probesAfterHold) = (true, state == .halfOpen)
        if state != .open { change(to: .open, because: .pausedByOrder) }
    }

    /// Takes `holdOpen` back. A breaker that had a reason of its own stays open for that, or probes.
    public func release(at now: Instant) {
        guard isHeldOpen else { return }
        isHeldOpen = false
        if openUntil(at: now) != nil { return }
        let hasReason = reason != .pausedByOrder || probesAfterHold
        change(to: configuration.isEnabled && hasReason ? .halfOpen : .closed)
    }

    /// Notes that the provider asked for a pause. It changes what is shown, not which calls are permitted: the code that keeps the
    /// rate has them wait.
    public func notePause(until end: Instant, because reason: Reason, at now: Instant) {
        let wasTold = isPaused(at: now) && pause?.isTold == true
        let isLong = now.duration(to: end) >= Self.shortestToldPause
        pause = (end, reason, isTold: wasTold || isLong)
        guard isLong, !wasTold, state == .closed else { return }
        onTransition?(Transition(from: .closed, to: .paused, reason: reason, openFor: now.duration(to: end)))
    }

    private func endPause(at now: Instant) {
        guard let pause, pause.end <= now else { return }
        self.pause = nil
        if pause.isTold { onTransition?(Transition(from: .paused, to: .closed)) }
    }

    /// Opens for at least `duration` from now.
    public func trip(for duration: Duration, because reason: Reason, at now: Instant) {
        guard configuration.isEnabled, duration > .zero else { return }
        if state == .open {
            // Tripped by many calls at once: one opening, as long as the longest.
            openUntil = max(openUntil ?? now, now + duration)
            self.reason = reason
        } else {
            open(for: duration, because: reason, at: now)
        }
    }

    /// Has the next call try a provider that is shut for its key or the key's quota: there is a new key now.
    public func renewKey() {
        guard state == .open, reason?.concernsKey == true else { return }
        endTrip()
    }

    private func endTrip() {
        guard isHeldOpen else { return change(to: .halfOpen) }
        (openUntil, probesAfterHold, reason) = (nil, true, .pausedByOrder)
    }

    fileprivate func finish(_ outcome: Outcome, epoch: UInt, at now: Instant) {
        note(outcome)
        guard configuration.isEnabled else { return }
        if case .trip(let duration, let reason) = outcome { return trip(for: duration, because: reason, at: now) }
        guard epoch == self.epoch else { return }
        let counts = Counts(outcome)
        switch state {
        case .closed, .paused:
            guard counts != .zero else { return }
            window.add(counts, at: now)
            if outcome != .success { judge(window.sum(at: now), at: now) }
        case .halfOpen:
            probesOut -= 1
            probes += counts
            judgeProbes(at: now)
        case .open: break
        }
    }

    fileprivate func giveBack(epoch: UInt) {
        statistics.ignored += 1
        if state == .halfOpen, epoch == self.epoch { probesOut -= 1 }
    }

    private func note(_ outcome: Outcome) {
        switch outcome {
        case .success: statistics.successes += 1
        case .failure, .trip: statistics.failures += 1
        case .slow: statistics.slowCalls += 1
        case .ignored: statistics.ignored += 1
        }
    }

    // MARK: - Changes of state

    private func judge(_ counts: Counts, at now: Instant) {
        guard counts.calls >= configuration.minimumCalls else { return }
        if Double(counts.failures) >= configuration.failureRate * Double(counts.calls) {
            open(for: nextOpenDuration, because: .failureRate, at: now)
        } else if Double(counts.slow) >= configuration.slowCallRate * Double(counts.calls) {
            open(for: nextOpenDuration, because: .slowCallRate, at: now)
        }
    }

    /// The same rates as in `closed`, over the probes; opens as soon as the rest of them cannot change it.
    private func judgeProbes(at now: Instant) {
        let all = Double(configuration.probes)
        if probes.failures > 0 && Double(probes.failures) >= configuration.failureRate * all
            || probes.slow > 0 && Double(probes.slow) >= configuration.slowCallRate * all
        {
            open(for: nextOpenDuration, because: .probesFailed, at: now)
        } else if probes.calls >= configuration.probes {
            openingsInARow = 0
            change(to: .closed)
        }
    }

    private var nextOpenDuration: Duration {
        let longest = max(configuration.longestOpenDuration, configuration.openDuration)
        return min(longest, configuration.openDuration * (1 << min(openingsInARow, 20)))
    }

    private func open(for duration: Duration, because reason: Reason, at now: Instant) {
        openingsInARow += 1
        statistics.openings += 1
        openUntil = now + duration
        change(to: .open, because: reason, for: duration)
    }

    private func change(to new: State, because reason: Reason? = nil, for duration: Duration? = nil) {
        let transition = Transition(from: state, to: new, reason: reason, openFor: duration)
        state = new
        switch new {
        case .open:
            self.reason = reason
            // The line that tells of the opening stands for the pause as well.
            pause?.isTold = false
        case .halfOpen: break
        case .closed, .paused: self.reason = nil
        }
        epoch += 1
        probesOut = 0
        probes = .zero
        window.clear()
        if new != .open { openUntil = nil }
        onTransition?(transition)
    }
}

extension CircuitBreaker {
    /// The right to one call. Dropped without `finish`, as by a cancelled call, it gives a probe's place back.
    public struct Permit: ~Copyable {
        private let breaker: CircuitBreaker
        /// The breaker's epoch in which it permitted the call.
        public let epoch: UInt
        private var isFinished = false

        fileprivate init(breaker: CircuitBreaker, epoch: UInt) {
            self.breaker = breaker
            self.epoch = epoch
        }

        deinit { if !isFinished { breaker.giveBack(epoch: epoch) } }

        /// Says how the call ended.
        public consuming func finish(_ outcome: Outcome, at now: Instant) {
            isFinished = true
            breaker.finish(outcome, epoch: epoch, at: now)
        }
    }
}
