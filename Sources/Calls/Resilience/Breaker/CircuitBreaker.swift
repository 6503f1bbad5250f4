public import Basics

/// Stops calls to a failing provider. While open, it refuses calls immediately; then a few probes decide whether it closes.
/// One per provider and API key.
///
/// Its states are shown as the provider's states: see docs/providers-and-quotas.md, "The states of a provider". In the
/// state `paused`, the breaker permits calls, but the rate limiter makes them wait.
///
/// Not `Sendable`: belongs to one actor. All methods are synchronous and cost no lock and no allocation.
public final class CircuitBreaker {
    /// The end of a call, as reported by the caller.
    public enum Outcome: Sendable, Hashable {
        case success
        /// A failure of the provider or the network: 5xx, timeout, unreachable, an unusable answer.
        case failure
        /// An answer that took too long.
        case slow
        /// No evidence about the provider: a 4xx caused by the request, or a cancelled call.
        case ignored
        /// The provider must not be called for this long. Opens the breaker immediately.
        case trip(for: Duration, because: Reason)
    }

    /// A shorter pause is not reported as a transition: requests wait for its end, and there may be one every second.
    private static let shortestReportedPause = Duration.seconds(10)

    private let configuration: Configuration
    /// Called after each transition, in the owner's isolation.
    public var onTransition: ((Transition) -> Void)?

    /// The state as of the last call, without pauses: an open breaker becomes half-open when the first probe is permitted.
    public private(set) var state = State.closed
    /// The reason of the last opening; `nil` while the breaker is closed.
    public private(set) var reason: Reason?
    /// The last pause that the provider requested. Removed when a call is permitted after its end.
    private var pause: (end: Instant, reason: Reason, isReported: Bool)?
    /// The number of transitions. Each permit stores it, because calls that began before a transition are no evidence about
    /// the time after it.
    private var epoch: UInt = 0
    /// The epoch in which the present key came. Calls of earlier ones were made with another key.
    private var firstEpochOfKey: UInt = 0
    private var window: SlidingWindow
    private var openUntil: Instant?
    /// True while an operator's order keeps the breaker open. No probe is admitted then.
    public private(set) var isHeldOpen = false
    /// True if the breaker must be half-open after the order is withdrawn, because it was before.
    private var probesAfterHold = false
    /// The number of openings since successful probes last closed the breaker.
    private var openingsInARow = 0
    private var probesOut = 0
    private var probes = CallCounts.zero

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        window = SlidingWindow(span: configuration.window)
    }

    /// Returns the time until which every call is refused; `nil` unless the breaker is open.
    public func openUntil(at now: Instant) -> Instant? {
        if isHeldOpen { return max(openUntil ?? now, now + Self.orderReview) }
        guard let openUntil, openUntil > now else { return nil }
        return openUntil
    }

    /// The provider's state for display: `paused` if the breaker is closed during a pause.
    public func state(at now: Instant) -> State {
        state == .closed && isPaused(at: now) ? .paused : state
    }

    /// The reason why the provider's state is not `closed`.
    public func reason(at now: Instant) -> Reason? {
        if isHeldOpen { return .pausedByOrder }
        return state == .closed && isPaused(at: now) ? pause?.reason : reason
    }

    private func isPaused(at now: Instant) -> Bool { pause.map { now < $0.end } ?? false }

    // MARK: - Calls

    /// Returns the refusal of a call at this time; `nil` if a call may be made.
    public func rejection(at now: Instant) -> Rejection? {
        switch state {
        case .closed, .paused: return nil
        case .open: return openUntil(at: now).map { rejection(now.duration(to: $0)) }
        case .halfOpen:
            guard probesOut + probes.calls >= configuration.probes else { return nil }
            return rejection(min(configuration.openDuration, .seconds(1)))
        }
    }

    /// Permits a call. Call this only if `rejection` returned `nil`.
    /// - Returns: a permit that the call ends with `finish`; a dropped permit counts as `ignored`.
    public func take(at now: Instant) -> Permit {
        switch state {
        case .closed, .paused: if pause != nil { endPause(at: now) }
        case .open:
            change(to: .halfOpen)
            probesOut += 1
        case .halfOpen: probesOut += 1
        }
        return Permit(breaker: self, epoch: epoch)
    }

    private func rejection(_ retryAfter: Duration) -> Rejection {
        Rejection(retryAfter: retryAfter, reason: isHeldOpen ? .pausedByOrder : reason)
    }

    // MARK: - An operator's order

    /// The `retryAfter` of a call that was refused by order. The end of the order is not known.
    private static let orderReview = Duration.seconds(30)

    /// Opens the breaker until `release`, even if it is not enabled. Calls in flight continue.
    public func holdOpen(at now: Instant) {
        guard !isHeldOpen else { return }
        (isHeldOpen, probesAfterHold) = (true, state == .halfOpen)
        if state != .open { change(to: .open, because: .pausedByOrder) }
    }

    /// Withdraws `holdOpen`. If the breaker had another reason to be open, it stays open for that reason or becomes half-open.
    public func release(at now: Instant) {
        guard isHeldOpen else { return }
        isHeldOpen = false
        if openUntil(at: now) != nil { return }
        let hasReason = reason != .pausedByOrder || probesAfterHold
        change(to: configuration.isEnabled && hasReason ? .halfOpen : .closed)
    }

    /// Records that the provider requested a pause. This changes the displayed state only: the rate limiter makes the calls wait.
    public func notePause(until end: Instant, because reason: Reason, at now: Instant) {
        let wasReported = isPaused(at: now) && pause?.isReported == true
        let isLong = now.duration(to: end) >= Self.shortestReportedPause
        pause = (end, reason, isReported: wasReported || isLong)
        guard isLong, !wasReported, state == .closed else { return }
        onTransition?(Transition(from: .closed, to: .paused, reason: reason, openFor: now.duration(to: end)))
    }

    private func endPause(at now: Instant) {
        guard let pause, pause.end <= now else { return }
        self.pause = nil
        if pause.isReported { onTransition?(Transition(from: .paused, to: .closed)) }
    }

    /// Opens for at least `duration` from now.
    public func trip(for duration: Duration, because reason: Reason, at now: Instant) {
        guard configuration.isEnabled, duration > .zero else { return }
        if state == .open {
            // Many calls can trip the breaker at once: this counts as one opening, with the longest duration.
            openUntil = max(openUntil ?? now, now + duration)
            self.reason = reason
        } else {
            open(for: duration, because: reason, at: now)
        }
    }

    /// Lets the next call try a provider that was not called because of its key or the key's quota. Call it for a new key,
    /// which calls that began earlier cannot discredit.
    public func renewKey() {
        if state == .open, reason?.concernsKey == true { endTrip() } else { beginEpoch() }
        firstEpochOfKey = epoch
    }

    private func endTrip() {
        guard isHeldOpen else { return change(to: .halfOpen) }
        (openUntil, probesAfterHold, reason) = (nil, true, .pausedByOrder)
    }

    fileprivate func finish(_ outcome: Outcome, epoch: UInt, at now: Instant) {
        guard configuration.isEnabled else { return }
        if case .trip(let duration, let reason) = outcome, !reason.concernsKey || epoch >= firstEpochOfKey {
            return trip(for: duration, because: reason, at: now)
        }
        guard epoch == self.epoch else { return }
        let counts = outcome.counts
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
        if state == .halfOpen, epoch == self.epoch { probesOut -= 1 }
    }

    // MARK: - Changes of state

    private func judge(_ counts: CallCounts, at now: Instant) {
        guard counts.calls >= configuration.minimumCalls else { return }
        if Double(counts.failures) >= configuration.failureRate * Double(counts.calls) {
            open(for: nextOpenDuration, because: .failureRate, at: now)
        } else if Double(counts.slow) >= configuration.slowCallRate * Double(counts.calls) {
            open(for: nextOpenDuration, because: .slowCallRate, at: now)
        }
    }

    /// Applies the failure and slow-call rates to the probes. Opens as soon as the remaining probes cannot change the result.
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
        openUntil = now + duration
        change(to: .open, because: reason, for: duration)
    }

    private func change(to new: State, because reason: Reason? = nil, for duration: Duration? = nil) {
        let transition = Transition(from: state, to: new, reason: reason, openFor: duration)
        state = new
        switch new {
        case .open:
            self.reason = reason
            // The log line of the opening covers the pause as well.
            pause?.isReported = false
        case .halfOpen: break
        case .closed, .paused: self.reason = nil
        }
        beginEpoch()
        window.clear()
        if new != .open { openUntil = nil }
        onTransition?(transition)
    }

    private func beginEpoch() {
        epoch += 1
        probesOut = 0
        probes = .zero
    }
}

extension CircuitBreaker {
    /// The right to one call. If it is dropped without `finish`, as by a cancelled call, another probe may be made instead.
    public struct Permit: ~Copyable {
        private let breaker: CircuitBreaker
        /// The breaker's epoch at the time of the permit.
        private let epoch: UInt
        private var isFinished = false

        fileprivate init(breaker: CircuitBreaker, epoch: UInt) {
            self.breaker = breaker
            self.epoch = epoch
        }

        deinit { if !isFinished { breaker.giveBack(epoch: epoch) } }

        /// Reports how the call ended.
        public consuming func finish(_ outcome: Outcome, at now: Instant) {
            isFinished = true
            breaker.finish(outcome, epoch: epoch, at: now)
        }
    }
}
