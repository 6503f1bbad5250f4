internal import NIOCore

/// Lets so many requests be served at a time. The others wait for their turn, in their order.
struct Gate {
    typealias Waiter = @Sendable () -> Void
    enum Entry {
        /// The request may be served now.
        case now
        /// The waiter will be called when the request's turn has come.
        case later
        /// Too many requests wait already.
        case full
    }

    /// The limits; `nil` for none. After a change, call the waiters that `admitted()` returns.
    var capacity: TrafficProfile.Capacity?
    /// The number of requests that are being served.
    private(set) var active = 0
    private var waiters = CircularBuffer<Waiter>()

    var waiting: Int { waiters.count }

    /// Takes a turn, or a place in the queue.
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

    /// Gives a turn back.
    /// - Returns: the waiters that have a turn now, for the caller to call.
    mutating func leave() -> [Waiter] {
        active -= 1
        return admitted()
    }

    /// Takes the waiters that have a turn now out of the queue. Each counts as active from here on.
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

/// Limits the requests per second of each API key, with a bucket of tokens for each.
struct QuotaBuckets {
    private struct Bucket {
        var tokens: Double
        var at: UInt64
    }
    private var buckets: [UInt64: Bucket] = [:]

    /// Takes a token for one request; `false` when the key has none left.
    /// - Parameters:
    ///   - key: a fingerprint of the API key.
    ///   - now: nanoseconds of a clock that never goes back.
    mutating func take(for key: UInt64, quota: TrafficProfile.Quota, now: UInt64) -> Bool {
        // Made-up keys must not use up the memory.
        if buckets.count > 4096 { buckets.removeAll() }

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
