internal import NIOCore

/// The counts of one API, or of all requests.
struct Meter {
    private(set) var requests = 0
    private(set) var inFlight = 0
    private(set) var maxInFlight = 0
    /// The number of requests whose client disconnected before the answer was sent.
    private(set) var aborted = 0
    /// The number of finished requests by outcome.
    private(set) var outcomes: [String: Int] = [:]
    /// The number of billed answers by SKU.
    var skus: [String: Int] = [:]
    private(set) var seconds = PerSecond()
    private(set) var window = SlidingWindow()
    /// The same for each method.
    private(set) var methods: [String: SlidingWindow] = [:]

    /// Counts an arriving request.
    /// - Parameters:
    ///   - second: the wall-clock time in seconds since 1970.
    ///   - nanoseconds: the time on a monotonic clock.
    mutating func arrive(_ endpoint: Endpoint, second: Int, nanoseconds: UInt64) {
        requests += 1
        inFlight += 1
        maxInFlight = max(maxInFlight, inFlight)
        seconds.count(second)
        window.add(nanoseconds)
        methods[endpoint.rawValue, default: SlidingWindow()].add(nanoseconds)
    }

    /// Counts a finished request.
    mutating func finish(_ outcome: String, isAborted: Bool) {
        inFlight -= 1
        outcomes[outcome, default: 0] += 1
        if isAborted { aborted += 1 }
    }

    /// Resets the counts, except those of the requests in flight.
    mutating func reset() {
        let open = inFlight
        self = Meter()
        (inFlight, maxInFlight) = (open, open)
    }
}

/// The arrivals in each second of wall-clock time, for at least the last hour.
struct PerSecond {
    /// The time of the first count, in seconds since 1970.
    private(set) var first = 0
    private(set) var counts: [Int] = []
    private static let limit = 7200

    mutating func count(_ second: Int) {
        // The clock may have been set far ahead, or no request may have arrived for hours.
        if counts.isEmpty || second - first >= Self.limit * 2 { (first, counts) = (second, []) }
        let index = max(0, second - first)  // the clock may have been set back
        while counts.count <= index { counts.append(0) }
        counts[index] += 1

        if counts.count > Self.limit {
            let drop = counts.count - Self.limit / 2
            counts.removeFirst(drop)
            first += drop
        }
    }
}

/// The maximum number of arrivals within any second, whatever its beginning. Rate limits are checked with it.
struct SlidingWindow {
    private(set) var maximum = 0
    private(set) var total = 0
    /// The times of the arrivals of the last second.
    private var arrivals = CircularBuffer<UInt64>()

    mutating func add(_ now: UInt64) {
        while let oldest = arrivals.first, now &- oldest >= 1_000_000_000 { arrivals.removeFirst() }
        arrivals.append(now)
        total += 1
        maximum = max(maximum, arrivals.count)
    }
}
