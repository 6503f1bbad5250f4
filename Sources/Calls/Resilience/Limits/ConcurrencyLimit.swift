public import Basics

/// Bounds the calls to a provider that are under way: as many as the setting allows while the provider is healthy, and fewer
/// while it is slow, so that the calls let through are answered in time. `LimitController` decides how many.
///
/// Not `Sendable`: it belongs to one actor.
public final class ConcurrencyLimit {
    public struct Configuration: Sendable, Hashable {
        /// The most calls under way, at least 1: this loop's part of `worker.concurrency`.
        public var maximum: Int
        /// The fewest calls that the limit goes down to, 1 to `maximum`. The default is 1, because a provider that can do only
        /// one call at a time should get one.
        public var minimum = 1
        /// `providers.<name>.adaptiveConcurrency`; when off, `maximum` stands.
        public var isAdaptive = true

        public init(maximum: Int) { self.maximum = max(1, maximum) }
    }

    public struct Statistics: Sendable, Hashable {
        public var limit = 0
        public var inFlight = 0
        /// The number of calls that wait for others to end.
        public var waiting = 0
        public var admitted = 0
        public var waited = 0
        /// The number of calls refused because they would not be answered before their deadline.
        public var refused = 0
        public var cancelled = 0

        public init() {}
    }

    /// The largest share of its time that a call waits for others to end. The rest is left for the provider, which may get slower
    /// meanwhile.
    private static let longestWait = 0.4

    private let timekeeper: any Timekeeper
    private(set) var controller: LimitController
    private var inFlight = 0
    private var admitted = 0
    /// Called when a call has ended, which gives another one room.
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
        statistics.admitted = admitted
        return statistics
    }

    /// The number of calls that may be under way.
    public var limit: Int { controller.limit }

    /// The number of calls that may begin now.
    public var room: Int { max(0, controller.limit - inFlight) }

    /// The mean duration of the last calls; zero before the first.
    public var expectedLatency: Duration { Duration.seconds(roundedUp: controller.latency) }

    /// Changes the most calls under way, at least 1, to which the limit may come.
    public func setMaximum(_ maximum: Int) { controller.setMaximum(max(1, maximum)) }

    // MARK: - Calls

    /// Notes how much time the request of a call has when the call asks for its permit, because the limit follows from deadlines.
    public func noteTime(before deadline: Deadline, at now: Instant) {
        controller.noteBudget(deadline.remaining(at: now).inSeconds)
    }

    /// Returns the time that a call needs to be answered where it has less; `nil` where it has enough, or where no call is under
    /// way: one may always try, because what is known of the latency may be out of date.
    public func missesTime(before deadline: Deadline, at now: Instant) -> Duration? {
        let need = controller.timeNeeded
        guard deadline.remaining(at: now).inSeconds < need, inFlight > 0 else { return nil }
        return need.isFinite ? Duration.seconds(roundedUp: need) : .zero
    }

    /// Returns the time that a call may wait for others to end, in seconds.
    public func longestWait(before deadline: Deadline, at now: Instant) -> Double {
        let left = deadline.remaining(at: now).inSeconds
        return min(left - controller.timeNeeded, left * Self.longestWait)
    }

    /// Returns the time until a call with so many others before it has room, in seconds: all before it must leave, and in the time
    /// that one call takes, as many leave as the limit allows. Infinite where no call is answered at present.
    public func wait(behind others: Double) -> Double {
        let before = others + 1 + Double(max(0, inFlight - controller.limit))
        return controller.expected * before / Double(controller.limit)
    }

    /// Takes the permit of a call that begins now. There must be room.
    public func take(at now: Instant) -> Permit {
        inFlight += 1
        admitted += 1
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
    /// The right to one call.
    public struct Permit: ~Copyable {
        private let limit: ConcurrencyLimit
        /// The moment at which the call began.
        public let start: Instant
        private var isFinished = false

        fileprivate init(limit: ConcurrencyLimit, start: Instant) {
            self.limit = limit
            self.start = start
        }

        /// A permit that is dropped is given back at once, and its latency is not counted.
        deinit {
            if isPutBack(.slotNotReturned) { return }
            if !isFinished { limit.end(.ignored, start: start, at: limit.timekeeper.now) }
        }

        /// Notes how the call ended, and lets the next one pass.
        public consuming func finish(_ signal: LoadSignal, at now: Instant) {
            isFinished = true
            limit.end(signal, start: start, at: now)
        }
    }
}
