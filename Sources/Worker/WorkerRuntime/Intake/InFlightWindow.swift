internal import Basics
internal import EventLoop
internal import LocationSearch

/// The limit of a lane's in-flight requests: as few as keep its loop busy, and at most the configured number.
///
/// If the loop is the bottleneck and not the provider, more requests in flight do not increase throughput. They only
/// take more memory, which evicts caches between the stages of a request and makes each request more expensive.
struct InFlightWindow {
    /// Long compared with one pass of the loop, short compared with changes in a provider's latency.
    static let period = Duration.milliseconds(50)
    /// A smaller limit gains nothing: requests become no cheaper, and each pass of the loop serves fewer of them.
    static let least = 64

    /// One part in this many of the window, and of the bytes for outcomes, is reserved for interactive requests. They
    /// then need not wait for one of many batch requests to finish.
    static let interactivePart = 8

    private var most: Int
    private(set) var limit: Int
    private var rest: LoopRest
    /// True if the limit has held back requests since the period began, or may have.
    private var wasFull = false

    /// - Parameter most: the largest allowed limit, at least 1.
    init(most: Int, asleep: Duration, at now: Instant) {
        self.most = most
        limit = min(Self.least, most)
        rest = LoopRest(every: Self.period, asleep: asleep, at: now)
    }

    /// Returns the limit for requests of a class.
    func limit(for requestClass: RequestClass) -> Int {
        requestClass == .batch ? limit - limit / Self.interactivePart : limit
    }

    /// Returns whether batch requests, or all, may be held back.
    func isFull(inFlight: Int) -> Bool { inFlight >= limit(for: .batch) }

    /// Changes the largest allowed limit, to at least 1.
    mutating func setMost(_ most: Int) {
        self.most = most
        limit = max(min(limit, most), min(Self.least, most))
    }

    /// Adapts the limit to the idle time of the loop, once per period.
    /// - Parameter asleep: the loop's total idle time since it started.
    mutating func adapt(inFlight: Int, asleep: Duration, at now: Instant) {
        if isFull(inFlight: inFlight), !wasFull {
            // Idle time while there was room does not show whether more requests would help.
            wasFull = true
            rest = LoopRest(every: Self.period, asleep: asleep, at: now)
        }
        guard let share = rest.share(asleep: asleep, at: now) else { return }
        defer { wasFull = isFull(inFlight: inFlight) }
        if share > 0.04 {
            if wasFull { limit = min(most, 2 * limit) }
        } else if share < 0.01 {
            limit = max(min(Self.least, most), limit - limit / 4)
        }
    }
}
