/// Decides how many calls to a provider may be under way. Seconds throughout; no clock of its own.
///
/// It steers the median latency below a share of the time that requests have, and does nothing while it is. The target
/// comes from deadlines, not from the smallest latency seen (Vegas, Netflix's Gradient, Envoy): a remote API answers
/// some requests from a cache and others from afar, so the minimum is no measure of the rest; taken over a long time it
/// is out of date, over a short one it drifts up with the very overload that it should show. And a queue that nobody
/// suffers from is no reason to hold back: at full load on a fast provider most of the latency is queue.
///
/// Too slow, the limit is multiplied by target / latency: a queue's latency is proportional to its length, so one step
/// lands on the target. When latency does not follow the limit - a provider that is slow, not full - the cut is taken
/// back, for it only costs throughput. With room to spare the limit grows again, as far as it is used.
struct LimitController {
    /// Share of the time a request has that the median call may take: half the calls take longer, and waiting for a
    /// place comes on top.
    static let latencyShare = 0.4
    /// One request in four has less time than `typicalBudget`.
    static let budgetStep = (down: 0.98, up: 1.006_757)
    /// From this share of the time requests have, the median call is lost: cut, whatever the last cut brought.
    static let lostShare = 0.95
    /// Between this part of the target and the target nothing changes.
    static let calm = 0.8
    /// Bounds of one step. Down by no more than half, for the latency may belong to what was before; up fast enough to go
    /// from 1 to 256 in some 20 windows.
    static let (smallestFactor, largestFactor) = (0.5, 1.25)
    /// Refused by the provider as too much: up to here it is noise.
    static let overloadNoise = 0.1
    /// How long a cut that did not help is not tried again; doubles up to the longest.
    static let (hold, longestHold) = (10.0, 80.0)
    /// A window ends after a quarter of the limit, 8 to 64 calls, and not before 50 ms; or after 1 s.
    static let (fewest, most, shortest, longest) = (8, 64, Duration.milliseconds(50), Duration.seconds(1))

    /// What a cut was made on, until its effect is seen.
    private struct Trial {
        let limit: Double
        let factor: Double
        let latency: Double
        let overload: Double
    }

    private let configuration: AdaptiveLimit.Configuration
    private var exact: Double
    /// Calls that may be under way.
    private(set) var limit: Int
    /// Median of the last full window; 0 before the first.
    private(set) var latency = 0.0
    /// A low quartile of the time that requests have when they arrive.
    private(set) var typicalBudget = 0.0

    private var latencies: [Double] = []
    private var overloads = 0
    private var peak = 0
    private var windowStart: ContinuousClock.Instant?
    /// Calls from before the last change of the limit show how it was before.
    private var settled: ContinuousClock.Instant?
    private var trial: Trial?
    private var holdUntil: ContinuousClock.Instant?
    private var nextHold = Self.hold
    private var gentleUntil: ContinuousClock.Instant?

    init(_ configuration: AdaptiveLimit.Configuration) {
        self.configuration = configuration
        limit = configuration.maximum
        exact = Double(limit)
        latencies.reserveCapacity(Self.most)
    }

    /// What a call needs to be answered, with a margin for those slower than the median; bounded so that a latency that
    /// is out of date cannot shut everybody out.
    var timeNeeded: Double { min(1.25 * latency, typicalBudget / 2) }

    // MARK: - What happens

    mutating func noteBudget(_ budget: Double) {
        guard budget > 0 else { return }
        if typicalBudget == 0 {
            typicalBudget = budget
        } else {
            typicalBudget *= budget < typicalBudget ? Self.budgetStep.down : Self.budgetStep.up
        }
    }

    mutating func noteInFlight(_ count: Int) { if count > peak { peak = count } }

    mutating func noteEnd(
        _ outcome: AdaptiveLimit.Outcome, start: ContinuousClock.Instant, at now: ContinuousClock.Instant
    ) {
        guard outcome != .ignored else { return }
        if let settled, start < settled { return }
        if outcome == .overloaded {
            overloads += 1
        } else {
            let latency = start.duration(to: now).inSeconds
            // A call that had less time than the target says nothing by timing out.
            if outcome == .timedOut, latency < target { return }
            note(latency)
        }
        guard let windowStart else {
            self.windowStart = now
            return
        }
        let age = windowStart.duration(to: now)
        let enough = min(Self.most, max(Self.fewest, limit / 4))
        if age >= Self.longest || age >= Self.shortest && latencies.count + overloads >= enough { endWindow(at: now) }
    }

    private mutating func note(_ latency: Double) {
        // When the window is full the oldest half makes room: the latest count.
        if latencies.count == Self.most { latencies.removeFirst(Self.most / 2) }
        latencies.append(latency)
    }

    private var target: Double { Self.latencyShare * typicalBudget }

    // MARK: - What follows

    private mutating func endWindow(at now: ContinuousClock.Instant) {
        latencies.sort()
        if !latencies.isEmpty { latency = latencies[latencies.count / 2] }
        let overload = Double(overloads) / Double(max(1, latencies.count + overloads))
        let used = peak
        (overloads, peak, windowStart) = (0, 0, now)
        latencies.removeAll(keepingCapacity: true)
        guard configuration.isAdaptive, typicalBudget > 0 else { return }
        decide(overload: overload, used: used, at: now)
    }

    private mutating func decide(overload: Double, used: Int, at now: ContinuousClock.Instant) {
        let isLost = latency >= Self.lostShare * typicalBudget
        if let trial, !isLost, didNotHelp(trial, overload) {
            self.trial = nil
            holdUntil = now + .seconds(nextHold)
            nextHold = min(Self.longestHold, nextHold * 2)
            return change(to: trial.limit, at: now)
        }
        if trial != nil, !isLost { nextHold = Self.hold }
        trial = nil
        let holds = holdUntil.map { now < $0 } ?? false
        if isLost || !holds && (latency > target || overload > Self.overloadNoise) {
            cut(overload: overload, used: used, isLost: isLost, at: now)
        } else if latency < Self.calm * target, overload <= Self.overloadNoise, used >= limit * 9 / 10 {
            let isGentle = gentleUntil.map { now < $0 } ?? false
            let room = latency > 0 ? (Self.calm + 1) / 2 * target / latency : .infinity
            change(to: exact * min(isGentle ? 1.05 : Self.largestFactor, room) + (isGentle ? 0 : 1), at: now)
        }
    }

    /// After a cut, latency and refusals should have followed it at least half the way. If latency went up instead, the
    /// provider got worse meanwhile, and the cut stays.
    private func didNotHelp(_ trial: Trial, _ overload: Double) -> Bool {
        if trial.overload > Self.overloadNoise { return overload > trial.overload * 0.8 }
        let ratio = latency / trial.latency
        return ratio > (1 + trial.factor) / 2 && ratio < 1.25
    }

    private mutating func cut(overload: Double, used: Int, isLost: Bool, at now: ContinuousClock.Instant) {
        var factor = 1.0
        if latency > target { factor = target / latency }
        if overload > Self.overloadNoise {
            factor = min(factor, 1 - overload)
            gentleUntil = now + .seconds(Self.hold)
        }
        factor = max(factor, Self.smallestFactor)
        let base = min(exact, Double(max(1, used)))
        guard base * factor < exact, exact > Double(configuration.minimum) else { return }
        // A latency cut short by the deadline is no measure of what a cut brings.
        if !isLost { trial = Trial(limit: exact, factor: factor, latency: latency, overload: overload) }
        change(to: base * factor, at: now)
    }

    private mutating func change(to new: Double, at now: ContinuousClock.Instant) {
        let bounded = min(Double(configuration.maximum), max(Double(configuration.minimum), new))
        guard bounded != exact else { return }
        exact = bounded
        limit = Int(bounded)
        settled = now
        windowStart = nil
    }
}
