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

    /// The figures, and how often each fault met each phase of a worker.
    func summary(seconds: Double) -> String {
        let rate = seconds > 0 ? Double(schedules) / seconds : 0
        return """
            \(schedules) schedules, \(failed) failed, \((rate * 10).rounded() / 10) a second, \(requests) requests, \
            \(calls) calls
            \(table)
            """
    }

    /// A row for each fault and a column for each phase. A fault that never met a phase has a dot there: a blind spot, or what
    /// cannot be.
    private var table: String {
        let phases = FleetSimulation.phases
        let others = Set(coverage.keys.compactMap { $0.split(separator: " / ").first.map(String.init) })
            .subtracting(FleetSimulation.faults)
        let rows = (FleetSimulation.faults + others.sorted()).map { fault in
            [fault] + phases.map { phase in coverage["\(fault) / \(phase)"].map(String.init) ?? "·" }
        }
        let all = [["fault"] + phases] + rows
        let widths = (0...phases.count).map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.indices.map { column in
                let pad = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + pad : pad + row[column]
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
