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
