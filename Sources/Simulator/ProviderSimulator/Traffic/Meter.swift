/// The counts of one API, one method, or all together.
struct Meter {
    private(set) var requests = 0
    private(set) var inFlight = 0
    private(set) var maxInFlight = 0
    /// The number of requests whose client went away before the answer was sent.
    private(set) var aborted = 0
    private(set) var seconds = PerSecond()
    private(set) var window = SlidingWindow()

    /// Counts a request that has arrived.
    /// - Parameters:
    ///   - second: the wall clock's, since 1970.
    ///   - nanoseconds: the time on a clock that never goes back.
    mutating func arrive(second: Int, nanoseconds: UInt64) {
        requests += 1
        inFlight += 1
        maxInFlight = max(maxInFlight, inFlight)
        seconds.count(second)
        window.add(nanoseconds)
    }

    /// Counts a request that has ended.
    mutating func finish(isAborted: Bool) {
        inFlight -= 1
        if isAborted { aborted += 1 }
    }

    /// Sets the counts to zero, except those of the requests in flight.
    mutating func reset() {
        let open = inFlight
        self = Meter()
        (inFlight, maxInFlight) = (open, open)
    }
}

/// The arrivals in each second of the wall clock, for at least the last hour.
struct PerSecond {
    /// The second of the first count, since 1970.
    private(set) var first = 0
    private(set) var counts: [Int] = []
    private static let limit = 7200

    mutating func count(_ second: Int) {
        if counts.isEmpty { first = second }
        var index = second - first
        if index < 0 { index = 0 }  // the clock was set back

        if index >= Self.limit * 2 {
            // The clock was set far ahead, or no request came for hours.
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

/// The largest number of arrivals within any second, wherever it begins, by which a rate limit is judged.
struct SlidingWindow {
    private(set) var maximum = 0
    /// The arrivals of the last second in a ring, whose size is a power of two.
    private var ring = [UInt64](repeating: 0, count: 64)
    private var head = 0
    private var count = 0
    /// The largest number that is counted, which takes 8 MB.
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
