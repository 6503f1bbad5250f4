internal import NIOCore

/// Lets so many requests be served at a time; the others wait in their order.
struct Gate {
    typealias Waiter = @Sendable () -> Void
    enum Entry { case now, later, full }

    var capacity: TrafficProfile.Capacity?
    private(set) var active = 0
    private var waiters = CircularBuffer<Waiter>()

    var waiting: Int { waiters.count }

    mutating func enter(_ waiter: @escaping Waiter) -> Entry {
        guard let capacity else {
            active += 1
            return .now
        }
        if active < capacity.concurrent {
            active += 1
            return .now
        }
        guard waiters.count < capacity.queue else { return .full }
        waiters.append(waiter)
        return .later
    }

    mutating func leave() -> [Waiter] {
        active -= 1
        return admitted()
    }

    /// Who may go now, also after a change of `capacity`. Each counts as active from here on.
    mutating func admitted() -> [Waiter] {
        var next: [Waiter] = []
        while let waiter = waiters.first, active < capacity?.concurrent ?? .max {
            waiters.removeFirst()
            active += 1
            next.append(waiter)
        }
        return next
    }
}

/// Requests per second for each key: a bucket of tokens.
struct QuotaBuckets {
    private struct Bucket {
        var tokens: Double
        var at: UInt64
    }
    private var buckets: [UInt64: Bucket] = [:]

    /// - Parameters:
    ///   - key: a fingerprint of the API key.
    ///   - now: nanoseconds of a clock that never goes back.
    mutating func take(_ key: UInt64, _ quota: TrafficProfile.Quota, now: UInt64) -> Bool {
        if buckets.count > 4096 { buckets.removeAll() }  // made-up keys take no memory
        let burst = Double(quota.burst)
        var bucket = buckets[key] ?? Bucket(tokens: burst, at: now)
        bucket.tokens = min(burst, bucket.tokens + Double(now &- bucket.at) * 1e-9 * quota.requestsPerSecond)
        bucket.at = now
        defer { buckets[key] = bucket }
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }
}
