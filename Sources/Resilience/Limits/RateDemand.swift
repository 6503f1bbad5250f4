public import Basics

/// How much of a limit a loop could use: what it has used of late, and what waits.
///
/// Belongs to one owner, as its `RateLimiter` does.
public struct RateDemand {
    /// The time within which the waiting requests want their calls. Short enough that a line which never gets shorter asks
    /// for much more with each message, long enough that a single request asks for little.
    private static let horizon = 0.5
    /// A loop demands what it uses, and this much more: a rate is never quite even, and leased quota takes a moment to
    /// come back.
    private static let headroom = 1.05
    /// The time over which the rate is averaged, seconds: that of so many calls, within bounds. Short, so that a loop whose
    /// work has ended leases all it has to others at once, and long enough that chance does not look like an end.
    private static let (averaged, memory) = (8.0, 0.075...0.4)
    /// A loop that makes a call now and then keeps what it needs for them, but at most this part of the limit. What it does
    /// not keep, it would have to ask back for each call.
    private static let kept = 0.004
    private static let longMemory = 3.0
    /// Less than this part of a limit is nothing.
    private static let least = 1e-3

    private var rate = 0.0
    private var longRate = 0.0
    private var admitted = 0
    private var countedAt: Instant?

    public init() {}

    /// Returns the fraction of the limit that the loop could use, 0 to 1. To be called a few times a second.
    public mutating func fraction(
        of limit: RateLimit, statistics: RateLimiter.Statistics, at now: Instant
    ) -> Double {
        count(statistics.admitted, at: now)
        let used = max(rate, min(longRate, Self.kept * limit.perSecond))
        let wanted = used * Self.headroom + Double(statistics.waiting) / Self.horizon
        let fraction = wanted / limit.perSecond
        return fraction < Self.least ? 0 : min(1, fraction)
    }

    private mutating func count(_ admitted: Int, at now: Instant) {
        defer { (self.admitted, countedAt) = (admitted, now) }
        guard let countedAt else { return }
        let time = countedAt.duration(to: now).inSeconds
        guard time > 0 else { return }

        let recent = max(0, Double(admitted - self.admitted) / time)
        let memory = min(Self.memory.upperBound, max(Self.memory.lowerBound, Self.averaged / max(rate, 1e-3)))
        rate += min(1, time / memory) * (recent - rate)
        longRate += min(1, time / Self.longMemory) * (recent - longRate)
    }
}
