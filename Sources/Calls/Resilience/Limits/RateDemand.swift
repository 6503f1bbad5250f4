public import Basics

/// Estimates how much of a limit a loop could use, by class of request, from its recent use and its waiting calls.
///
/// Belongs to the owner of the loop's `RateBucket`.
public struct RateDemand {
    /// The time within which the waiting requests should be called, in seconds. Short enough that a queue which does not
    /// shrink demands much more with each message. Long enough that a single request demands little.
    private static let horizon = 0.5
    /// A loop demands this factor of its use: a rate is never quite even, and leased quota takes a moment to return.
    private static let headroom = 1.05
    /// A loop that rarely makes calls keeps the quota that it needs for them, up to this share of the limit. Otherwise it
    /// would have to request it for each call.
    private static let kept = 0.004
    /// A demand below this share of a limit counts as none.
    private static let least = 1e-3

    private var total = CallRate()
    private var interactive = CallRate()
    private var interactiveTenants = TenantCount()
    private var batchTenants = TenantCount()
    private var countedAt: Instant?

    public init() {}

    /// Returns how much of the limit the loop could use. Call this a few times per second.
    public mutating func demand(
        of limit: RateLimit, statistics: RateBucket.Statistics, at now: Instant
    ) -> LimitDemand {
        let time = countedAt?.duration(to: now).inSeconds
        countedAt = now
        total.count(statistics.admitted, after: time)
        interactive.count(statistics.admitted - statistics.admittedBatch, after: time)

        // The statistics count the tenants of both classes together. If both wait, each interactive request counts as a
        // separate tenant: the interactive queue is short because it is served first, and a batch queue is mostly one
        // tenant's flood.
        let (waiting, batch) = (statistics.waiting, statistics.waitingBatch)
        let tenants = min(waiting - batch, max(0, statistics.waitingTenants - (batch > 0 ? 1 : 0)))
        interactiveTenants.count(tenants, after: time)
        batchTenants.count(min(batch, statistics.waitingTenants - tenants), after: time)

        return LimitDemand(
            fraction(of: limit, rate: total, waiting: waiting),
            interactive: fraction(of: limit, rate: interactive, waiting: waiting - batch),
            interactiveTenants: interactiveTenants.recent, batchTenants: batchTenants.recent)
    }

    private func fraction(of limit: RateLimit, rate: CallRate, waiting: Int) -> Double {
        let used = max(rate.recent, min(rate.long, Self.kept * limit.perSecond))
        let wanted = used * Self.headroom + Double(max(0, waiting)) / Self.horizon
        let fraction = wanted / limit.perSecond
        return fraction < Self.least ? 0 : min(1, fraction)
    }
}

/// A recent rate of calls per second, from a counter that is read a few times per second.
private struct CallRate {
    /// The averaging time in seconds: the time of this many calls, within bounds. Short, so that a loop whose work has
    /// ended quickly leases all its quota to others. Long enough that chance does not look like an end.
    private static let (averaged, memory) = (8.0, 0.075...0.4)
    private static let longMemory = 3.0

    /// The rate over less than half a second.
    private(set) var recent = 0.0
    /// The rate over some seconds.
    private(set) var long = 0.0
    private var calls = 0

    /// - Parameter time: the seconds since the last count; `nil` for the first.
    mutating func count(_ calls: Int, after time: Double?) {
        defer { self.calls = calls }
        guard let time, time > 0 else { return }

        let now = max(0, Double(calls - self.calls) / time)
        let memory = min(Self.memory.upperBound, max(Self.memory.lowerBound, Self.averaged / max(recent, 1e-3)))
        recent += min(1, time / memory) * (now - recent)
        long += min(1, time / Self.longMemory) * (now - long)
    }
}

/// A smoothed number of waiting tenants. The raw number jumps, because a tenant that is served immediately waits only for moments.
private struct TenantCount {
    /// The time after which a tenant without waiting calls is no longer counted, in seconds.
    private static let memory = 1.0

    private var peak = 0.0

    /// The recent maximum of tenants that waited at once; older values count for less.
    var recent: Int { Int(saturating: peak.rounded()) }

    /// - Parameter time: the seconds since the last count; `nil` for the first.
    mutating func count(_ tenants: Int, after time: Double?) {
        let left = peak * (1 - min(1, max(0, time ?? 0) / Self.memory))
        peak = max(Double(tenants), left)
    }
}
