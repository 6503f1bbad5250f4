/// The counts of one API, or of all requests.
struct Meter {
    private(set) var requests = 0
    private(set) var inFlight = 0
    private(set) var maxInFlight = 0
    /// The number of requests whose client disconnected before the answer was sent.
    private(set) var aborted = 0
    /// The number of finished requests by outcome.
    private(set) var outcomes: [String: Int] = [:]
    private(set) var seconds = PerSecond()
    private(set) var window = SlidingWindow()

    /// Counts an arriving request.
    /// - Parameters:
    ///   - second: the wall-clock time in seconds since 1970.
    ///   - nanoseconds: the time on a monotonic clock.
    mutating func arrive(second: Int, nanoseconds: UInt64) {
        requests += 1
        inFlight += 1
        maxInFlight = max(maxInFlight, inFlight)
        seconds.count(second)
        window.add(nanoseconds)
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
        if counts.isEmpty { first = second }
        var index = second - first
        if index < 0 { index = 0 }  // the clock was set back

        if index >= Self.limit * 2 {
            // The clock was set far ahead, or no request arrived for hours.
            (first, counts, index) = (second, [], 0)
        } else if index >= Self.limit {
            let drop = min(index - Self.limit / 2, counts.count)
            counts.removeFirst(drop)
            first += drop
            index -= drop
        }

        while counts.count <= index { counts.append(0) }
        counts[index] += 1
    }
}

/// The maximum number of arrivals within any second, whatever its beginning. Rate limits are checked with it.
struct SlidingWindow {
    private(set) var maximum = 0
    /// The arrivals of the last second, in a ring buffer whose size is a power of two.
    private var ring = [UInt64](repeating: 0, count: 64)
    private var head = 0
    private var count = 0
    /// The maximum number of stored arrivals, which use 8 MB.
    private static let limit = 1 << 20

    mutating func add(_ now: UInt64) {
        while count > 0, now &- ring[head & (ring.count - 1)] >= 1_000_000_000 {
            head += 1
            count -= 1
        }

        if count == ring.count {
            if count == Self.limit {
                head += 1
                count -= 1
            } else {
                grow()
            }
        }

        ring[(head + count) & (ring.count - 1)] = now
        count += 1
        maximum = max(maximum, count)
    }

    private mutating func grow() {
        var larger = [UInt64](repeating: 0, count: ring.count * 2)
        for index in 0..<count { larger[index] = ring[(head + index) & (ring.count - 1)] }
        (ring, head) = (larger, 0)
    }
}
