internal import Basics

/// Decides how many calls to a provider may be in flight. All times are in seconds; it has no clock.
///
/// It keeps the latency below a share of the time that requests have, and does nothing while it is. Latency here is the
/// expected duration of a call that begins now, by Little's law: calls in flight divided by answers per second. That
/// reveals a loss of capacity within a second. The latencies of ended calls describe the time when they began, and those of
/// timed-out calls show nothing.
///
/// The target comes from deadlines, not from the smallest observed latency (Vegas, Netflix's Gradient, Envoy). A remote API
/// answers some requests from a cache and others from afar, so the minimum is no measure of the rest. Over a long time it
/// is out of date; over a short one it rises with the overload that it should reveal. And a queue that harms no request is
/// no reason to reduce the limit: at full load on a fast provider, most of the latency is queueing.
///
/// If latency is too high, the limit is reduced to the value that gives the target at the present rate. The first cut is
/// small unless deadlines are near. If latency does not follow, the provider is slow rather than full; the cut only costs
/// throughput and is reverted. If latency is low and the limit is used, the limit grows again.
struct LimitController {
    /// The share of a request's time that a call may take. At a fifth, when three quarters of the provider's capacity fail
    /// at once, the calls in flight take four fifths of their time and still succeed.
    static let latencyShare = 0.2
    /// A latency of this share of `typicalBudget` means that deadlines are near: the limit is cut to the target at once.
    static let urgentShare = 0.7
    /// Bounds of the target. Between `calm` times the target and the target, nothing changes; steps aim at `aim` times the target.
    static let (calm, aim) = (0.9, 0.95)
    /// Bounds of one step. Up by a quarter per latency, by half when latency is small: from 1 to 256 in 12 steps.
    static let (smallestFactor, largeFactor, largestFactor) = (0.2, 1.25, 1.5)
    /// This many calls make no queue that affects deadlines, so their latency does not depend on their number. A cut for
    /// latency leaves this many, unless deadlines are near.
    static let few = 4.0
    /// The factor of a first cut, which tests whether latency follows; and the tolerance over a proportional decrease.
    static let (probeFactor, proportion) = (0.7, 1.3)
    /// Above a latency that does not follow the limit, this much queueing is right: it keeps the provider busy.
    static let queueAllowance = 1.25
    /// The factor of the cut if there was no answer at all, so that the right size is unknown: half, as in TCP.
    static let blindFactor = 0.5
    /// The factor of the cut if the provider refuses calls as too many, as in Netflix's AIMD limit. Up to the second value,
    /// the share of refused calls is noise.
    static let (overloadFactor, overloadNoise) = (0.8, 0.1)
    /// How long a latency that did not follow is accepted as a floor, in seconds; doubles up to the longest.
    static let (shortestHold, longestHold) = (10.0, 80.0)
    /// A window ends after `enoughCalls` (which gives the rate to within a sixth), but not before `shortest` and half the
    /// latency. With fewer calls, and for the evaluation of a cut, it ends after `longest` and twice the latency. With
    /// fewer than `fewestCalls` it lasts longer, because one or two calls are chance.
    static let (enoughCalls, shortest, longest, fewestCalls, longestForFew) = (32, 0.05, 1.0, 4, 10.0)

    /// The data behind a cut, kept until its effect is known.
    private struct Trial {
        let limit: Double
        let factor: Double
        let isForOverload: Bool
        let before: LoadWindow
        let latency: Double
        /// The time at which all calls in flight have begun under the new limit.
        let settled: Instant
    }

    /// The times until which earlier steps affect later ones.
    private struct Memory {
        /// Timeouts of calls that began earlier were the reason for the last cut, and do not count again.
        var lastCut: Instant?
        /// From this time, latency includes the calls that a larger limit admitted.
        var grownUntil: Instant?
        /// Refusals are ignored until then, because a cut for them reduced the number of answers.
        var overloadIgnoredUntil: Instant?
        /// The last cut helped, so another one until then may be large.
        var helpedUntil: Instant?
        /// The limit grows in small steps until then, because the provider has refused calls.
        var gentleUntil: Instant?
    }

    private var bounds: ClosedRange<Int>
    private let isAdaptive: Bool
    private var exact: Double
    /// The maximum number of calls in flight.
    private(set) var limit: Int
    /// The mean latency of the calls answered in the last window; 0 before the first.
    private(set) var latency = 0.0
    /// The expected duration of a call that begins now; infinite if nothing is answered, 0 before the first window.
    private(set) var expected = 0.0
    private var budget = TypicalBudget()
    private var load = LoadMeter()

    private var memory = Memory()
    private var trial: Trial?
    /// A latency that does not depend on the number of calls, and until when it is accepted.
    private var floor: (latency: Double, until: Instant)?
    private var nextHold = Self.shortestHold

    /// - Parameter bounds: the lower and upper bound of the limit.
    /// - Parameter isAdaptive: if false, the limit stays at the upper bound.
    init(bounds: ClosedRange<Int>, isAdaptive: Bool) {
        self.bounds = bounds
        self.isAdaptive = isAdaptive
        limit = bounds.upperBound
        exact = Double(limit)
    }

    /// Changes the upper bound of the limit. A limit at its upper bound moves with it.
    mutating func setMaximum(_ maximum: Int) {
        let wasHighest = limit == bounds.upperBound
        bounds = min(bounds.lowerBound, maximum)...maximum
        limit = wasHighest ? maximum : min(limit, maximum)
        exact = wasHighest ? Double(maximum) : min(exact, Double(maximum))
    }

    /// The time that a call needs to be answered, with a margin for calls slower than the mean. Bounded, so that an
    /// outdated latency cannot shut out all calls.
    var timeNeeded: Double { min(1.75 * latency, 0.7 * typicalBudget) }

    // MARK: - Events

    mutating func noteBudget(_ budget: Double) { self.budget.note(budget) }

    /// The lower quartile of the time that requests have when they arrive.
    var typicalBudget: Double { budget.seconds }

    mutating func noteStart(at now: Instant) {
        if load.inFlight == 0 { endOverdueWindow(at: now) }
        load.noteStart(at: now, limit: limit)
    }

    mutating func noteEnd(_ signal: LoadSignal, start: Instant, at now: Instant) {
        load.noteEnd(at: now, limit: limit)
        switch signal {
        case .answered:
            load.window.answers += 1
            load.window.latencies += start.duration(to: now).inSeconds
        case .overloaded: load.window.overloads += 1
        case .timedOut:
            // Calls from before the last cut were already its reason.
            if let lastCut = memory.lastCut, start < lastCut { return }
            load.window.timeouts += 1
        case .ignored: return
        }
        guard let windowStart = load.windowStart else { return load.beginWindow(at: now) }
        load.window.age = windowStart.duration(to: now).inSeconds
        let seen = load.window
        // Refusals come fast and in bursts, so they do not fill a window.
        let isFull = trial == nil && seen.answers + seen.timeouts >= Self.enoughCalls
        let isOver = seen.age >= (seen.calls < Self.fewestCalls ? max(longestAge, Self.longestForFew) : longestAge)
        if isFull && seen.age >= max(Self.shortest, latency / 2) || isOver {
            load.beginWindow(at: now)
            judge(seen, at: now)
        }
    }

    /// Seconds after which a window ends regardless of its number of calls.
    private var longestAge: Double { max(Self.longest, 2 * latency) }

    /// Ends a window whose time passed while no call was in flight, as of that time. An open breaker or a lack of requests
    /// may have stopped all calls since. Such a window is no evidence about the calls that begin now.
    private mutating func endOverdueWindow(at now: Instant) {
        guard let windowStart = load.windowStart, windowStart.duration(to: now).inSeconds >= longestAge else { return }
        load.window.age = longestAge
        let seen = load.window
        load.beginWindow(at: now)
        if seen.calls >= Self.fewestCalls { judge(seen, at: windowStart + .seconds(saturating: seen.age)) }
    }

    // MARK: - Decisions

    private func target(at now: Instant) -> Double {
        let wanted = Self.latencyShare * typicalBudget
        guard let floor, now < floor.until else { return wanted }
        return max(wanted, min(Self.queueAllowance * floor.latency, Self.urgentShare * typicalBudget))
    }

    private mutating func judge(_ seen: LoadWindow, at now: Instant) {
        let expectedBefore = expected
        expected = seen.expected
        if seen.answers > 0 { latency = seen.latencies / Double(seen.answers) }
        guard isAdaptive, typicalBudget > 0 else { return }
        // Calls that began together end together, so only what two windows agree on is reliable.
        let sure = min(expected, expectedBefore)
        if let trial, sure.isFinite {
            if now < trial.settled { return }
            self.trial = nil
            if conclude(trial, seen: seen, at: now) { return }
        }
        trial = nil
        noteFloor(seen, at: now)
        let target = target(at: now)
        let isOverloaded = seen.overload > Self.overloadNoise
        if sure > target {
            cut(seen, latency: sure, target: target, at: now)
        } else if isOverloaded {
            cutForOverload(seen, at: now)
        } else if expected < Self.calm * target, seen.most >= limit * 9 / 10 {
            grow(to: target, at: now)
        }
    }

    /// Records a latency that does not depend on the number of calls. The latency of few calls is accepted as such while
    /// one more call, even if it queued, would take at most half of the time. Otherwise the limit could stay low forever at
    /// a provider that is slow, not full. For a single call, two calls must only be in time.
    private mutating func noteFloor(_ seen: LoadWindow, at now: Instant) {
        let most = Double(seen.most)
        let bar = typicalBudget * (most > 1 ? 0.5 : 1)
        let isSteady = memory.grownUntil.map { $0.duration(to: now).inSeconds >= seen.age } ?? true
        if most <= Self.few, seen.answers > 0, isSteady, expected * (most + 1) < bar * most {
            floor = (expected, now + .seconds(saturating: Self.shortestHold))
        } else if let floor, expected < floor.latency {
            self.floor = (expected, floor.until)
        }
    }

    private mutating func cut(_ seen: LoadWindow, latency: Double, target: Double, at now: Instant) {
        let isUrgent = latency > Self.urgentShare * typicalBudget
        let isSure = isUrgent || (memory.helpedUntil.map { now < $0 } ?? false)
        let factor =
            latency.isFinite
            ? max(Self.aim * target / latency, isSure ? Self.smallestFactor : Self.probeFactor) : Self.blindFactor
        reduce(seen, by: factor, atLeast: isUrgent ? 1 : Self.few, latency: latency, isForOverload: false, at: now)
    }

    /// Reduces the limit because the provider refused calls. If there was never more than one call in flight, their number
    /// was not the reason.
    private mutating func cutForOverload(_ seen: LoadWindow, at now: Instant) {
        guard seen.most > 1 else { return }
        if let overloadIgnoredUntil = memory.overloadIgnoredUntil, now < overloadIgnoredUntil { return }
        memory.gentleUntil = now + .seconds(saturating: Self.shortestHold)
        reduce(seen, by: Self.overloadFactor, atLeast: 1, latency: expected, isForOverload: true, at: now)
    }

    private mutating func reduce(
        _ seen: LoadWindow, by factor: Double, atLeast fewest: Double, latency: Double, isForOverload: Bool,
        at now: Instant
    ) {
        let before = exact
        change(to: min(before, max(fewest, min(before, Double(seen.most)) * factor)))
        guard exact < before else { return }
        memory.lastCut = now
        guard latency.isFinite else { return }
        trial = Trial(
            limit: before, factor: factor, isForOverload: isForOverload, before: seen, latency: latency,
            settled: now + .seconds(saturating: 2 * latency))
    }

    /// Evaluates a cut. A cut for refusals must not have cost answers. A cut for latency must have reduced it in
    /// proportion; a latency that does not follow is not queueing.
    /// - Returns: whether the cut was reverted.
    private mutating func conclude(_ trial: Trial, seen: LoadWindow, at now: Instant) -> Bool {
        let bar = (1 + trial.factor) / 2
        let ratio = expected / trial.latency
        let didNotHelp =
            trial.isForOverload
            ? seen.answersPerSecond < bar * trial.before.answersPerSecond
            // If latency rose instead, the provider got worse meanwhile, and the cut stays.
            : ratio > bar && ratio < 1.25
        if !trial.isForOverload, ratio > Self.proportion * trial.factor, ratio < 1.25 {
            floor = (expected, now + .seconds(saturating: nextHold))
        }
        guard didNotHelp else {
            nextHold = Self.shortestHold
            memory.helpedUntil = now + .seconds(saturating: Self.shortestHold)
            return false
        }
        if trial.isForOverload { memory.overloadIgnoredUntil = now + .seconds(saturating: nextHold) }
        nextHold = min(Self.longestHold, nextHold * 2)
        change(to: trial.limit)
        return true
    }

    private mutating func grow(to target: Double, at now: Instant) {
        if let grownUntil = memory.grownUntil, now < grownUntil { return }
        memory.grownUntil = now + .seconds(saturating: max(latency, expected))
        let room = expected > 0 ? Self.aim * target / expected : .infinity
        if let gentleUntil = memory.gentleUntil, now < gentleUntil {
            change(to: exact * min(1.05, room))
        } else {
            change(to: exact * min(room > 4 ? Self.largestFactor : Self.largeFactor, room) + 1)
        }
    }

    private mutating func change(to new: Double) {
        exact = min(Double(bounds.upperBound), max(Double(bounds.lowerBound), new))
        limit = Int(saturating: exact)
    }
}
