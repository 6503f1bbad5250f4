public import Basics

/// Bounds the traffic that retries add, so that they do not amplify an outage. Over a sliding window, retries are at most a
/// share of the requests. A plain value, to be used by one owner.
public struct RetryBudget: Sendable {
    public struct Configuration: Sendable, Hashable {
        /// Retries per request, 0 to 1. Finagle and Linkerd allow 0.2.
        public var ratio = 0.2
        /// Retries per second of one loop that are allowed however few requests there are. It is a minimum for the
        /// allowance of `ratio`, not an addition: under load, only the ratio matters. Linkerd allows 10, for callers of
        /// free services.
        public var minimumPerSecond = 1.0
        /// The time over which requests and retries are counted, like a deposit's time to live in Linkerd and Finagle.
        public var window: Duration = .seconds(10)

        public init() {}
    }

    public struct Statistics: Sendable, Hashable {
        public var requests = 0
        public var retries = 0
        /// The number of retries that were not made because the budget was used up.
        public var refused = 0
    }

    private let configuration: Configuration
    private var window: SlidingWindow
    /// The number of retries reserved for calls in flight.
    private var reserved = 0
    public private(set) var statistics = Statistics()

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        window = SlidingWindow(span: configuration.window)
    }

    /// Records a request's first attempt.
    public mutating func noteRequest(at now: Instant) {
        statistics.requests += 1
        window.add(CallCounts(calls: 1), at: now)
    }

    /// Reserves a retry for a call that will be abandoned early only if it can be repeated.
    /// - Returns: `false` if none is left. Otherwise call `release` at the call's end, before `withdraw`.
    public mutating func reserve(at now: Instant) -> Bool {
        guard hasRetryLeft(at: now) else { return false }
        reserved += 1
        return true
    }

    /// Releases what `reserve` reserved.
    public mutating func release() { reserved -= 1 }

    private mutating func hasRetryLeft(at now: Instant) -> Bool {
        let sum = window.sum(at: now)
        let allowed = max(
            configuration.ratio * Double(sum.calls),
            configuration.minimumPerSecond * configuration.window.inSeconds)
        return Double(sum.retries + reserved + 1) <= allowed
    }

    /// Withdraws one retry, if one is left.
    public mutating func withdraw(at now: Instant) -> Bool {
        guard hasRetryLeft(at: now) else {
            statistics.refused += 1
            return false
        }
        statistics.retries += 1
        window.add(CallCounts(retries: 1), at: now)
        return true
    }
}
