internal import DequeModule
internal import EventContract

/// The number of outcomes per second, and the latency of results.
struct OutcomeRates {
    /// The outcomes of one second.
    struct Second {
        /// The start of the second, in seconds since 1970.
        let time: Int64
        let completed: Int
        let failed: Int
        /// Percentiles of the time from writing a request to its result, in milliseconds; `nil` without a result. Errors do
        /// not count: immediate errors would make a failing provider look fast.
        let latency: (p50: Int, p95: Int, p99: Int)?
    }

    /// The number of seconds kept.
    static let mostSeconds = 300

    private(set) var seconds: Deque<Second> = []
    /// The second in which outcomes are counted now.
    private var current: Int64
    private var completed = 0
    private var failed = 0
    private var latencies: [Int] = []

    init(now: WallTime) { current = now.milliseconds / 1000 }

    /// Counts an outcome.
    mutating func add(_ record: OutcomeRecord) {
        guard let event = record.event else { return }

        switch event.body {
        case .completed:
            completed += 1
            if let took = record.tookMilliseconds { latencies.append(took) }
        case .failed: failed += 1
        }
    }

    /// Closes the seconds that have passed.
    /// - Returns: true if one was closed.
    mutating func advance(to now: WallTime) -> Bool {
        let second = now.milliseconds / 1000
        guard second > current else { return false }

        seconds.append(Second(time: current, completed: completed, failed: failed, latency: percentiles()))
        (completed, failed) = (0, 0)
        latencies.removeAll(keepingCapacity: true)

        // After a suspension of the process, the seconds in between are empty, and at most as many as are kept.
        for time in max(current + 1, second - Int64(Self.mostSeconds))..<max(second, current + 1) {
            seconds.append(Second(time: time, completed: 0, failed: 0, latency: nil))
        }
        while seconds.count > Self.mostSeconds { seconds.removeFirst() }
        current = second
        return true
    }

    private mutating func percentiles() -> (p50: Int, p95: Int, p99: Int)? {
        guard !latencies.isEmpty else { return nil }
        latencies.sort()
        return (nearestRank(50), nearestRank(95), nearestRank(99))
    }

    private func nearestRank(_ percent: Int) -> Int {
        latencies[max(0, (latencies.count * percent + 99) / 100 - 1)]
    }
}
