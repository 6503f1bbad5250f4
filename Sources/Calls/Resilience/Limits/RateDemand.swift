public import Basics

/// How much of a limit a loop could use: what it has used of late, and what waits, by class of request.
///
/// Belongs to one owner, as its owner's `RateBucket` does.
public struct RateDemand {
    /// The time within which the waiting requests want their calls. Short enough that a line which never gets shorter asks
    /// for much more with each message, long enough that a single request asks for little.
    private static let horizon = 0.5
    /// A loop demands what it uses, and this much more: a rate is never quite even, and leased quota takes a moment to
    /// come back.
    private static let headroom = 1.05
    /// A loop that makes a call now and then keeps what it needs for them, but at most this part of the limit. What it does
    /// not keep, it would have to ask back for each call.
    private static let kept = 0.004
    /// Less than this part of a limit is nothing.
    private static let least = 1e-3

    private var total = CallRate()
    private var interactive = CallRate()
    private var interactiveTenants = TenantCount()
    private var batchTenants = TenantCount()
    private var countedAt: Instant?

    public init() {}

    /// Returns what the loop could use of the limit. To be called a few times a second.
    public mutating func demand(
        of limit: RateLimit, statistics: RateBucket.Statistics, at now: Instant
    ) -> LimitDemand {
        let time = countedAt?.duration(to: now).inSeconds
        countedAt = now
        total.count(statistics.admitted, after: time)
        interactive.count(statistics.admitted - statistics.admittedBatch, after: time)

        let tenants = Tenants(statistics)
        interactiveTenants.count(tenants.interactive, after: time)
        batchTenants.count(tenants.batch, after: time)

        let waiting = statistics.waiting
        return LimitDemand(
            fraction(of: limit, rate: total, waiting: waiting),
            interactive: fraction(of: limit, rate: interactive, waiting: waiting - statistics.waitingBatch),
            interactiveTenants: interactiveTenants.recent, batchTenants: batchTenants.recent)
    }

    private func fraction(of limit: RateLimit, rate: CallRate, waiting: Int) -> Double {
        let used = max(rate.recent, min(rate.long, Self.kept * limit.perSecond))
        let wanted = used * Self.headroom + Double(max(0, waiting)) / Self.horizon
        let fraction = wanted / limit.perSecond
        return fraction < Self.least ? 0 : min(1, fraction)
    }

    /// The tenants that wait, by class.
    private struct Tenants {
        var (interactive, batch) = (0, 0)

        /// Divides the limiter's count, which is one for both classes. Where both wait, the interactive requests are taken for
        /// those of different tenants: their line is short while they go first, and a batch line is mostly one tenant's flood.
        init(_ statistics: RateBucket.Statistics) {
            let waitingInteractive = max(0, statistics.waiting - statistics.waitingBatch)
            let tenants = max(0, statistics.waitingTenants)
            let fewestBatch = statistics.waitingBatch > 0 ? 1 : 0
            interactive = min(waitingInteractive, max(0, tenants - fewestBatch))
            batch = min(max(0, statistics.waitingBatch), tenants - interactive)
        }
    }
}

/// The calls per second of late, from a counter that is looked at a few times a second.
private struct CallRate {
    /// The time over which the rate is averaged, seconds: that of so many calls, within bounds. Short, so that a loop whose
    /// work has ended leases all it has to others at once, and long enough that chance does not look like an end.
    private static let (averaged, memory) = (8.0, 0.075...0.4)
    private static let longMemory = 3.0

    /// The rate of less than half a second.
    private(set) var recent = 0.0
    /// The rate of some seconds.
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

/// The tenants that wait, which is a number that jumps: a tenant whose requests are served as they come waits for moments only.
private struct TenantCount {
    /// The time in which a tenant that waits no more is forgotten, seconds.
    private static let memory = 1.0

    private var peak = 0.0

    /// The most tenants that waited at once of late, the older ones counting for less.
    var recent: Int { Int(saturating: peak.rounded()) }

    /// - Parameter time: the seconds since the last count; `nil` for the first.
    mutating func count(_ tenants: Int, after time: Double?) {
        let left = peak * (1 - min(1, max(0, time ?? 0) / Self.memory))
        peak = max(Double(tenants), left)
    }
}
