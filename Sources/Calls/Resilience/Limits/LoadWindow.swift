internal import Basics

/// The calls that `LimitController` observed in one span of time.
struct LoadWindow {
    var answers = 0
    var timeouts = 0
    var overloads = 0
    var starts = 0
    /// The sum of the latencies of answered calls, in seconds.
    var latencies = 0.0
    /// Calls in flight, integrated over time; calls above the limit are left out, because no call replaces them when they end.
    var callSeconds = 0.0
    /// The maximum number of calls in flight at once.
    var most = 0
    /// Seconds from the window's start to its end.
    var age = 0.0

    var calls: Int { answers + timeouts + overloads }
    /// The share of calls that the provider refused as too many, 0 to 1.
    var overload: Double { Double(overloads) / Double(max(1, calls)) }
    var answersPerSecond: Double { Double(answers) / age }
    /// The expected duration of a call that begins now. If more calls begin than end, a burst of calls does not count as slowness.
    var expected: Double {
        answers + overloads > 0 ? callSeconds / Double(max(starts, answers + overloads)) : .infinity
    }
}

/// Counts the calls of one window after another.
struct LoadMeter {
    var window = LoadWindow()
    /// `nil` before the first window.
    private(set) var windowStart: Instant?
    private(set) var inFlight = 0
    private var countedUntil: Instant?

    mutating func noteStart(at now: Instant, limit: Int) {
        count(until: now, limit: limit)
        inFlight += 1
        window.starts += 1
        window.most = max(window.most, inFlight)
    }

    mutating func noteEnd(at now: Instant, limit: Int) {
        count(until: now, limit: limit)
        inFlight -= 1
    }

    private mutating func count(until now: Instant, limit: Int) {
        if let countedUntil, inFlight > 0 {
            window.callSeconds += countedUntil.duration(to: now).inSeconds * Double(min(inFlight, limit))
        }
        countedUntil = now
    }

    mutating func beginWindow(at now: Instant) {
        window = LoadWindow()
        window.most = inFlight
        windowStart = now
    }
}

/// The lower quartile of the time that requests have when they arrive, in seconds.
struct TypicalBudget {
    /// Steps, chosen so that one request in four has less time.
    private static let step = (down: 0.98, up: 1.006_757)
    /// The quartile of this many first requests counts before it moves by steps. With steps only, it would take a
    /// thousand calls to correct a first request with almost no time left, such as one that waited in Kafka.
    private static let firstCount = 16

    private(set) var seconds = 0.0
    /// The time that the first requests had, in ascending order.
    private var first: [Double] = []

    mutating func note(_ budget: Double) {
        guard budget > 0 else { return }
        guard first.count < Self.firstCount else {
            seconds *= budget < seconds ? Self.step.down : Self.step.up
            return
        }

        first.insert(budget, at: first.firstIndex { $0 > budget } ?? first.endIndex)
        seconds = first[first.count / 4]
    }
}

/// The end of a call, as far as it shows a provider's load.
public enum LoadSignal: Sendable, Hashable {
    /// The provider answered, with success or failure: the latency counts.
    case answered
    /// The provider did not answer in time: the latency is at least the time that the call had.
    case timedOut
    /// The provider reported overload (503, or 429 without a quota behind it).
    case overloaded
    /// No evidence about load: the call was cancelled, or had no connection.
    case ignored
}
