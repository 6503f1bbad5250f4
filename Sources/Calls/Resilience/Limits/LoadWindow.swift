/// The calls that `LimitController` has seen in a stretch of time.
struct LoadWindow {
    var answers = 0
    var timeouts = 0
    var overloads = 0
    var starts = 0
    /// The sum of the latencies of answered calls, in seconds.
    var latencies = 0.0
    /// Calls under way, integrated over time; those above the limit, who are leaving, left out.
    var callSeconds = 0.0
    /// The most calls that were under way at once.
    var most = 0
    /// Seconds from the window's begin to its end.
    var age = 0.0

    var calls: Int { answers + timeouts + overloads }
    /// The share of calls that the provider refused as too many, 0 to 1.
    var overload: Double { Double(overloads) / Double(max(1, calls)) }
    var answersPerSecond: Double { Double(answers) / age }
    /// The time that a call that begins now will take. When more begin than end, a rush of callers is no slowness.
    var expected: Double {
        answers + overloads > 0 ? callSeconds / Double(max(starts, answers + overloads)) : .infinity
    }
}
