/// What was counted of one API, one method, or all.
struct Meter {
    private(set) var requests = 0
    private(set) var inFlight = 0
    private(set) var maxInFlight = 0
    /// Clients that went away before their answer was sent.
    private(set) var aborted = 0
    private(set) var seconds = PerSecond()
    private(set) var window = SlidingWindow()

    /// - Parameters:
    ///   - second: of the wall clock, since 1970.
    ///   - nanoseconds: of a clock that never goes back.
    mutating func arrive(second: Int, nanoseconds: UInt64) {
        requests += 1
        inFlight += 1
        maxInFlight = max(maxInFlight, inFlight)
        seconds.count(second)
        window.add(nanoseconds)
    }

    mutating func finish(aborted isAborted: Bool) {
        inFlight -= 1
        if isAborted { aborted += 1 }
    }

    /// Forgets all but what is in flight.
    mutating func reset() {
        let open = inFlight
        self = Meter()
        (inFlight, maxInFlight) = (open, open)
    }
}

/// Arrivals in each second of the wall clock, the last hour at least.
struct PerSecond {
    private(set) var first = 0
    private(set) var counts: [Int] = []
    private static let limit = 7200

    mutating func count(_ second: Int) {
        if counts.isEmpty { first = second }
        var index = second - first
        if index < 0 { index = 0 }  // the clock was set back
        if index >= Self.limit * 2 {  // or far ahead, or nobody came for hours
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

/// The most arrivals within any second, wherever it begins: what a rate limit is judged by.
struct SlidingWindow {
    private(set) var maximum = 0
    /// Arrivals of the last second in a ring; its size is a power of two.
    private var ring = [UInt64](repeating: 0, count: 64)
    private var head = 0
    private var count = 0
    /// Saturates here: 8 MB.
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
