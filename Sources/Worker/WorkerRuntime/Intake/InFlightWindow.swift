internal import Basics
internal import EventLoop

/// How many requests a lane has in flight: as many as are allowed, or fewer, as few as keep its loop busy.
///
/// Where the loop and not the provider is what keeps requests waiting, more in flight do not go faster. They only take
/// memory, which leaves the caches between one stage of a request and the next: each costs more.
struct InFlightWindow {
    /// Long against a turn of the loop, short against what a provider's delay takes to change.
    static let period = Duration.milliseconds(50)
    /// Fewer gain nothing: a request costs as much, and a turn of the loop serves fewer of them.
    static let least = 64

    private var most: Int
    private(set) var limit: Int
    private var rest: LoopRest
    /// Since the period began the limit has held something back, or may have.
    private var wasFull = false

    /// - Parameter most: what is allowed, at least 1.
    init(most: Int, asleep: Duration, at now: Instant) {
        self.most = most
        limit = min(Self.least, most)
        rest = LoopRest(every: Self.period, asleep: asleep, at: now)
    }

    /// Changes what is allowed, to at least 1.
    mutating func setMost(_ most: Int) {
        self.most = most
        limit = max(min(limit, most), min(Self.least, most))
    }

    /// Looks at how busy the loop was, once in each period.
    /// - Parameter asleep: for how long the loop had nothing to do, since it began.
    mutating func adapt(inFlight: Int, asleep: Duration, at now: Instant) {
        if inFlight >= limit, !wasFull {
            // What the loop rested while there was room says nothing about what more requests would do.
            wasFull = true
            rest = LoopRest(every: Self.period, asleep: asleep, at: now)
        }
        guard let share = rest.share(asleep: asleep, at: now) else { return }
        defer { wasFull = inFlight >= limit }
        if share > 0.04 {
            if wasFull { limit = min(most, 2 * limit) }
        } else if share < 0.01 {
            limit = max(min(Self.least, most), limit - limit / 4)
        }
    }
}
