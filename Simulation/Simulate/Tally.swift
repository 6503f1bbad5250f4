import FleetSimulation
import Foundation

/// Adds up the results of schedules.
struct Tally: Codable {
    private(set) var schedules = 0
    /// The seeds that break a promise.
    private(set) var failing: Set<UInt64> = []
    private var calls = 0
    private var requests = 0
    private var kills = 0
    private var coverage: [String: Int] = [:]

    mutating func add(_ outcome: FleetSimulation.Outcome) {
        schedules += 1
        if !outcome.verdict.isGood { failing.insert(outcome.seed) }
        calls += outcome.calls
        requests += outcome.requests
        kills += outcome.kills
        coverage.merge(outcome.coverage, uniquingKeysWith: +)
    }

    /// Adds the results of another process.
    mutating func add(_ other: Tally) {
        schedules += other.schedules
        failing.formUnion(other.failing)
        calls += other.calls
        requests += other.requests
        kills += other.kills
        coverage.merge(other.coverage, uniquingKeysWith: +)
    }

    func write(to file: URL) throws { try JSONEncoder().encode(self).write(to: file) }

    init() {}

    /// Reads the results that another process has written.
    init(of file: URL) throws { self = try JSONDecoder().decode(Tally.self, from: Data(contentsOf: file)) }

    /// Returns the figures, and a table of how often each fault met each phase of a worker.
    func summary(seconds: Double) -> String {
        let rate = seconds > 0 ? Double(schedules) / seconds : 0
        let seeds = failing.sorted().map(String.init).joined(separator: ", ")
        return """
            \(table)
            \(schedules) schedules, \(failing.count) failed, \((rate * 10).rounded() / 10) per second, \(requests) requests, \
            \(calls) calls, \(kills) processes killed
            """ + (failing.isEmpty ? "" : "\nfailing seeds: \(seeds)")
    }

    /// A row for each fault and a column for each phase. A dot stands for a fault that never met a phase: a
    /// blind spot, or an impossible combination.
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
