/// How many requests a lane has in flight: as many as are allowed, or fewer, as few as keep its loop busy.
///
/// Where the loop and not the provider is what keeps requests waiting, more in flight do not go faster. They only take
/// memory, which leaves the caches between one stage of a request and the next: each costs more.
struct InFlightWindow {
    /// Long against a turn of the loop, short against what a provider's delay takes to change.
    static let period = Duration.milliseconds(50)
    /// Fewer gain nothing: a request costs as much, and a turn of the loop serves fewer of them.
    static let least = 64

    private let most: Int
    private(set) var limit: Int
    private var periodStart: ContinuousClock.Instant
    private var asleepBefore: Duration
    /// In this period the limit held something back, or may have.
    private var wasFull = false

    /// - Parameter most: what is allowed, at least 1.
    init(most: Int, asleep: Duration, at now: ContinuousClock.Instant) {
        self.most = most
        limit = min(Self.least, most)
        periodStart = now
        asleepBefore = asleep
    }

    /// Looks at how busy the loop was, once in each period.
    /// - Parameter asleep: for how long the loop had nothing to do, since it began.
    mutating func adapt(inFlight: Int, asleep: Duration, at now: ContinuousClock.Instant) {
        if inFlight >= limit { wasFull = true }
        let length = periodStart.duration(to: now)
        guard length >= Self.period else { return }
        let slept = asleep - asleepBefore
        (periodStart, asleepBefore) = (now, asleep)
        defer { wasFull = false }
        if slept * 25 > length {
            if wasFull { limit = min(most, 2 * limit) }
        } else if slept * 100 < length {
            limit = max(min(Self.least, most), limit - limit / 4)
        }
    }
}
