public import Basics

/// Bounds the number of calls in flight at a provider. The bound is the configured maximum while the provider is healthy,
/// and lower while it is slow, so that admitted calls are answered in time. `LimitController` decides the number.
///
/// Not `Sendable`: it belongs to one actor.
public final class ConcurrencyLimit {
    public struct Configuration: Sendable, Hashable {
        /// The maximum number of calls in flight, at least 1: this loop's part of `worker.concurrency`.
        public var maximum: Int
        /// The lower bound of the limit, 1 to `maximum`. The default is 1, for providers that can handle only one call at a time.
        public var minimum = 1
        /// `providers.<name>.adaptiveConcurrency`; if off, the limit is always `maximum`.
        public var isAdaptive = true

        public init(maximum: Int) { self.maximum = max(1, maximum) }
    }

    public struct Statistics: Sendable, Hashable {
        public var limit = 0
        public var inFlight = 0
        /// The number of calls that wait for a permit.
        public var waiting = 0
        /// The number of calls refused because they would not be answered before their deadline.
        public var refused = 0

        public init() {}
    }

    /// The largest share of its time that a call waits for a permit. The rest is left for the provider, which may become
    /// slower meanwhile.
    private static let longestWait = 0.4

    private let timekeeper: any Timekeeper
    private(set) var controller: LimitController
    private var inFlight = 0
    /// Called when a call has ended and its permit is free.
    public var onEnd: (() -> Void)?

    public init(_ configuration: Configuration, timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        controller = LimitController(
            bounds: configuration.minimum...configuration.maximum, isAdaptive: configuration.isAdaptive)
    }

    public var statistics: Statistics {
        var statistics = Statistics()
        statistics.limit = controller.limit
        statistics.inFlight = inFlight
        return statistics
    }

    /// The maximum number of calls in flight.
    public var limit: Int { controller.limit }

    /// The number of calls that may begin now.
    public var room: Int { max(0, controller.limit - inFlight) }

    /// The mean duration of the last calls; zero before the first.
    public var expectedLatency: Duration { Duration.seconds(roundedUp: controller.latency) }

    /// Changes the upper bound of the limit, at least 1.
    public func setMaximum(_ maximum: Int) { controller.setMaximum(max(1, maximum)) }

    // MARK: - Calls

    /// Records how much time a call's request has when the call asks for its permit. The limit depends on deadlines.
    public func noteTime(before deadline: Deadline, at now: Instant) {
        controller.noteBudget(deadline.remaining(at: now).inSeconds)
    }

    /// Returns the time that a call needs to be answered, if it has less; otherwise `nil`. Also `nil` if no call is in
    /// flight: one call may always try, because the known latency may be out of date.
    public func missesTime(before deadline: Deadline, at now: Instant) -> Duration? {
        let need = controller.timeNeeded
        guard deadline.remaining(at: now).inSeconds < need, inFlight > 0 else { return nil }
        return need.isFinite ? Duration.seconds(roundedUp: need) : .zero
    }

    /// Returns the time that a call may wait for a permit, in seconds.
    public func longestWait(before deadline: Deadline, at now: Instant) -> Double {
        let left = deadline.remaining(at: now).inSeconds
        return min(left - controller.timeNeeded, left * Self.longestWait)
    }

    /// Returns the expected wait for a permit behind this many other calls, in seconds. Within the duration of one call, as
    /// many calls end as the limit allows. Infinite while no call is answered.
    public func wait(behind others: Double) -> Double {
        let before = others + 1 + Double(max(0, inFlight - controller.limit))
        return controller.expected * before / Double(controller.limit)
    }

    /// Takes the permit of a call that begins now. `room` must be above 0.
    public func take(at now: Instant) -> Permit {
        inFlight += 1
        controller.noteStart(at: now)
        return Permit(limit: self, start: now)
    }

    fileprivate func end(_ signal: LoadSignal, start: Instant, at now: Instant) {
        inFlight -= 1
        controller.noteEnd(signal, start: start, at: now)
        onEnd?()
    }
}

extension ConcurrencyLimit {
    public struct Permit: ~Copyable {
        private let limit: ConcurrencyLimit
        /// The moment at which the call began.
        public let start: Instant
        private var isFinished = false

        fileprivate init(limit: ConcurrencyLimit, start: Instant) {
            self.limit = limit
            self.start = start
        }

        /// A dropped permit is returned immediately, and its latency is not counted.
        deinit {
            if !isFinished { limit.end(.ignored, start: start, at: limit.timekeeper.now) }
        }

        /// Records the end of the call and returns the permit.
        public consuming func finish(_ signal: LoadSignal, at now: Instant) {
            isFinished = true
            limit.end(signal, start: start, at: now)
        }
    }
}
