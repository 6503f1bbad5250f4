import FleetSimulation

/// Adds up what schedules came to.
struct Tally {
    private(set) var schedules = 0
    private(set) var failed = 0
    private var calls = 0
    private var requests = 0
    private var coverage: [String: Int] = [:]

    mutating func add(_ outcome: FleetSimulation.Outcome) {
        schedules += 1
        if !outcome.verdict.isGood { failed += 1 }
        calls += outcome.calls
        requests += outcome.requests
        coverage.merge(outcome.coverage, uniquingKeysWith: +)
    }

    /// The figures, and how often each fault met each state.
    func summary(seconds: Double) -> String {
        let rate = seconds > 0 ? Double(schedules) / seconds : 0
        let lines = coverage.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
        return """
            \(schedules) schedules, \(failed) failed, \((rate * 10).rounded() / 10) a second, \(requests) requests, \
            \(calls) calls
            \(lines.joined(separator: "\n"))
            """
    }
}
