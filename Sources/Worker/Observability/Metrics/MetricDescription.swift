/// One metric that `/metrics` shows: its name, and its description for operators.
package struct MetricDescription: Sendable, Hashable {
    package enum Kind: String, Sendable {
        /// Only increases, and starts at 0 with the process.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts observations in cumulative buckets.
        case histogram
    }

    /// The sections of docs/metrics.md, in its order.
    package enum Section: String, Sendable, CaseIterable {
        case requests = "Requests"
        case providers = "Providers"
        case kafka = "Kafka"
        case process = "The process"
        case console = "The console"
    }

    /// The name. Names are contract: add, never rename.
    package let name: String
    package let kind: Kind
    /// The names of the labels of its series. No label holds data that was read from a record.
    package var labels: [String] = []
    /// The upper bounds of a histogram's buckets in seconds, ascending; empty for the other kinds.
    package var bounds: [Double] = []
    /// True if a series appears with its first observation only, because most possible series never have any.
    package var isSparse = false
    /// The name of the same metric in OpenTelemetry's semantic conventions (1.44); `nil` if there is none.
    package var convention: String?
    package internal(set) var section = Section.process
    /// One sentence, for the `# HELP` line and docs/metrics.md.
    package internal(set) var help = ""

    static func counter(_ name: String, labels: [String] = [], convention: String? = nil) -> MetricDescription {
        MetricDescription(name: name, kind: .counter, labels: labels, convention: convention)
    }

    static func gauge(_ name: String, labels: [String] = [], convention: String? = nil) -> MetricDescription {
        MetricDescription(name: name, kind: .gauge, labels: labels, convention: convention)
    }

    static func histogram(
        _ name: String, labels: [String] = [], bounds: [Double], isSparse: Bool = false, convention: String? = nil
    ) -> MetricDescription {
        MetricDescription(
            name: name, kind: .histogram, labels: labels, bounds: bounds, isSparse: isSparse, convention: convention)
    }

    // MARK: - Lookup

    // bounded: a test checks that no name occurs twice
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Returns the metric with a name; `nil` if it is not in the table.
    package static func named(_ name: String) -> MetricDescription? { byName[name] }

    // MARK: - The reference

    /// The tables of docs/metrics.md: `make docs` writes them there, and a test compares the two.
    package static var markdownTables: String {
        Section.allCases.map { section in
            let rows = all.filter { $0.section == section }.map(\.markdownRow)
            return "### \(section.rawValue)\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n"
                + rows.joined()
        }.joined(separator: "\n")
    }

    private var markdownRow: String {
        let labels = labels.map { "`\($0)`" }.joined(separator: ", ")
        let convention = convention.map { " OpenTelemetry: \($0)." } ?? ""
        return "| `\(name)` | \(kind.rawValue) | \(labels) | \(help)\(convention) |\n"
    }
}
