internal import Basics

/// Decides how many calls to a provider may be under way. Seconds throughout; no clock of its own.
///
/// It keeps the latency below a share of the time that requests have, and does nothing while it is. Latency here is what
/// a call that begins now will see by Little's law: calls under way divided by answers per second. That shows a loss of
/// capacity within a second, while the latencies of calls that end show how it was when they began, and those of calls
/// that time out show nothing.
///
/// The target comes from deadlines, not from the smallest latency seen (Vegas, Netflix's Gradient, Envoy): a remote API
/// answers some requests from a cache and others from afar, so the minimum is no measure of the rest; taken over a long
/// time it is out of date, over a short one it drifts up with the very overload that it should show. And a queue that
/// nobody suffers from is no reason to hold back: at full load on a fast provider most of the latency is queue.
///
/// Too slow, the limit becomes what gives the target at the present pace, by a small cut first unless deadlines are near.
/// When latency does not follow - a provider that is slow, not full - the cut is taken back, for it only costs
/// throughput. With room to spare the limit grows again, as far as it is used.
struct LimitController {
    /// Share of the time a request has that a call may take. A fifth: when three quarters of the provider's capacity
    /// fail at once, the calls under way then take four fifths, and are not lost.
    static let latencyShare = 0.2
    /// A latency of this share of `typicalBudget` means that deadlines are near: the limit is cut to the target at once.
    static let urgentShare = 0.7
    /// One request in four has less time than `typicalBudget`.
    static let budgetStep = (down: 0.98, up: 1.006_757)
    /// `typicalBudget` is the quartile of so many first requests before it moves by steps. Steps alone would need a thousand calls
    /// to forget a first request with almost no time left, as one that waited in Kafka has.
    static let firstBudgetCount = 16
    /// Between this part of the target and the target nothing changes; steps aim between the two.
    static let (calm, aim) = (0.9, 0.95)
    /// Bounds of one step. Up by a quarter per latency, by half when that is small: from 1 to 256 in 12 steps.
    static let (smallestFactor, largeFactor, largestFactor) = (0.2, 1.25, 1.5)
    /// Calls that make no queue of their own that deadlines would notice, so that how slow they are says nothing about their
    /// number. A cut for latency leaves so many, unless deadlines are near.
    static let few = 4.0
    /// A first cut, to see whether latency follows; and what it should still be below, over what proportion would give.
    static let (probeFactor, proportion) = (0.7, 1.3)
    /// Over a latency that does not follow the limit, so much queue is right: it keeps the provider busy.
    static let queueAllowance = 1.25
    /// The cut when there was no answer at all, and so nothing says how far to cut: half, as TCP does.
    static let blindFactor = 0.5
    /// The cut when the provider refuses calls as too many, as in Netflix's AIMD limit; and the share of refused calls up to
    /// which they are noise.
    static let (overloadFactor, overloadNoise) = (0.8, 0.1)
    /// How long a latency that did not follow is taken as given, seconds; doubles up to the longest.
    static let (shortestHold, longestHold) = (10.0, 80.0)
    /// A window ends after so many calls (a pace to within a sixth), and not before 50 ms and half the latency; or, with
    /// fewer, and for the verdict on a cut, after a second and twice the latency. It waits a while for so few calls as say
    /// something, because one or two are chance.
    static let (enoughCalls, shortest, longest, fewestCalls, longestForFew) = (32, 0.05, 1.0, 4, 10.0)

    /// The figures that a cut was made on, kept until its effect is seen.
    private struct Trial {
        let limit: Double
        let factor: Double
        let isForOverload: Bool
        let before: LoadWindow
        let latency: Double
        /// The instant at which all calls under way have begun under the new limit.
        let settled: Instant
    }

    /// The moments up to which earlier steps decide about later ones.
    private struct Memory {
        /// Timeouts of calls that began before this moment were the reason for the last cut, and count no more.
        var lastCut: Instant?
        /// The calls that a larger limit let in show in the latency from this moment on.
        var grownUntil: Instant?
        /// Refusals are taken as given until then, because a cut for them has cost answers.
        var overloadIgnoredUntil: Instant?
        /// The last cut helped, so that until then another may be a large one.
        var helpedUntil: Instant?
        /// The limit grows in small steps until then, because the provider has refused calls.
        var gentleUntil: Instant?
    }

    private var bounds: ClosedRange<Int>
    private let isAdaptive: Bool
    private var exact: Double
    /// Calls that may be under way.
    private(set) var limit: Int
    /// Mean of the calls that were answered in the last window; 0 before the first.
    private(set) var latency = 0.0
    /// The time that a call that begins now will take, infinite when nothing is answered; 0 before the first window.
    private(set) var expected = 0.0
    /// A low quartile of the time that requests have when they arrive.
    private(set) var typicalBudget = 0.0
    /// The time that the first requests had, least first.
    private var firstBudgets: [Double] = []

    private var window = LoadWindow()
    private var windowStart: Instant?
    private var inFlight = 0
    private var countedUntil: Instant?

    private var memory = Memory()
    private var trial: Trial?
    /// A latency that does not come from the number of calls, and until when that is taken as given.
    private var floor: (latency: Double, until: Instant)?
    private var nextHold = Self.shortestHold

    /// - Parameter bounds: the fewest and the most calls that the limit may come to.
    /// - Parameter isAdaptive: keeps the limit at the upper bound when false.
    init(bounds: ClosedRange<Int>, isAdaptive: Bool) {
        self.bounds = bounds
        self.isAdaptive = isAdaptive
        limit = bounds.upperBound
        exact = Double(limit)
    }

    /// Changes the most calls that the limit may come to. A limit that stood at its upper bound goes there.
    mutating func setMaximum(_ maximum: Int) {
        let wasHighest = limit == bounds.upperBound
        bounds = min(bounds.lowerBound, maximum)...maximum
        limit = wasHighest ? maximum : min(limit, maximum)
        exact = wasHighest ? Double(maximum) : min(exact, Double(maximum))
    }

    /// The time that a call needs to be answered, with a margin for those slower than the mean; bounded so that a latency
    /// that is out of date cannot shut everybody out.
    var timeNeeded: Double { min(1.75 * latency, 0.7 * typicalBudget) }

    // MARK: - What happens

    mutating func noteBudget(_ budget: Double) {
        guard budget > 0 else { return }
        guard firstBudgets.count == Self.firstBudgetCount else { return noteFirstBudget(budget) }
        typicalBudget *= budget < typicalBudget ? Self.budgetStep.down : Self.budgetStep.up
    }

    private mutating func noteFirstBudget(_ budget: Double) {
        firstBudgets.insert(budget, at: firstBudgets.firstIndex { $0 > budget } ?? firstBudgets.endIndex)
        typicalBudget = firstBudgets[firstBudgets.count / 4]
    }

    mutating func noteStart(at now: Instant) {
        if inFlight == 0 { endOverdueWindow(at: now) }
        count(until: now)
        inFlight += 1
        window.starts += 1
        window.most = max(window.most, inFlight)
    }

    mutating func noteEnd(_ signal: LoadSignal, start: Instant, at now: Instant) {
        count(until: now)
        inFlight -= 1
        switch signal {
        case .answered:
            window.answers += 1
            window.latencies += start.duration(to: now).inSeconds
        case .overloaded: window.overloads += 1
        case .timedOut:
            // Those from before a cut were its reason already.
            if let lastCut = memory.lastCut, start < lastCut { return }
            window.timeouts += 1
        case .ignored: return
        }
        guard let windowStart else { return beginWindow(at: now) }
        window.age = windowStart.duration(to: now).inSeconds
        // Refusals come fast and in crowds: they alone do not fill a window.
        let isFull = trial == nil && window.answers + window.timeouts >= Self.enoughCalls
        let isOver = window.age >= (window.calls < Self.fewestCalls ? max(longestAge, Self.longestForFew) : longestAge)
        if isFull && window.age >= max(Self.shortest, latency / 2) || isOver {
            let seen = window
            beginWindow(at: now)
            judge(seen, at: now)
        }
    }

    /// Seconds after which a window ends however few calls it has.
    private var longestAge: Double { max(Self.longest, 2 * latency) }

    /// Ends a window whose time was over while no call was under way, as of that time: an open breaker, or a lack of requests, may
    /// have kept all calls away since. What such a window saw says nothing about the calls that begin now.
    private mutating func endOverdueWindow(at now: Instant) {
        guard let windowStart, windowStart.duration(to: now).inSeconds >= longestAge else { return }
        window.age = longestAge
        let seen = window
        beginWindow(at: now)
        if seen.calls >= Self.fewestCalls { judge(seen, at: windowStart + .seconds(saturating: seen.age)) }
    }

    private mutating func count(until now: Instant) {
        if let countedUntil, inFlight > 0 {
            window.callSeconds += countedUntil.duration(to: now).inSeconds * Double(min(inFlight, limit))
        }
        countedUntil = now
    }

    private mutating func beginWindow(at now: Instant) {
        window = LoadWindow()
        window.most = inFlight
        windowStart = now
    }

    // MARK: - What follows

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
        // Calls that began together end together: only what two windows show is so.
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

    /// Notes a latency that does not come from the number of calls. That of few calls is taken for one while one more, even if it
    /// had to queue, would leave half of the time, so that they do not stay few for ever at a provider that is slow, not full. A
    /// call that is alone needs no more than that two would be in time.
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

    /// Makes the limit smaller because the provider refused calls. Where none was ever under way beside another, it refused
    /// them for another reason than their number.
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

    /// Judges what a cut brought. One for refusals should not have cost answers. One for latency should have brought it
    /// down in proportion: where it stops following, it is no queue any more.
    /// - Returns: whether the cut was taken back.
    private mutating func conclude(_ trial: Trial, seen: LoadWindow, at now: Instant) -> Bool {
        let bar = (1 + trial.factor) / 2
        let ratio = expected / trial.latency
        let didNotHelp =
            trial.isForOverload
            ? seen.answersPerSecond < bar * trial.before.answersPerSecond
            // If it went up instead, the provider got worse meanwhile, and the cut stays.
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
