/// One metric that `/metrics` shows: its name and what an operator must know to read it.
package struct MetricDescription: Sendable, Hashable {
    /// The kind of a metric's numbers.
    package enum Kind: String, Sendable {
        /// It only grows, and begins at 0 with the process.
        case counter
        /// It goes up and down.
        case gauge
        /// It counts observations in buckets, each of which holds those of the smaller ones too.
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

    /// Names are contract: add, never rename.
    package let name: String
    package let kind: Kind
    /// The names of the labels that its series have. No label holds anything that was read from a record.
    package var labels: [String] = []
    /// The upper bounds of a histogram's buckets in seconds, ascending; empty for the other kinds.
    package var bounds: [Double] = []
    /// True when a series appears with its first observation: most of the possible ones never have any.
    package var isSparse = false
    /// The name that OpenTelemetry's semantic conventions (1.44) have for the same thing; `nil` where they have none.
    package var convention: String?
    package internal(set) var section = Section.process
    /// One sentence, which stands in the `# HELP` line and in docs/metrics.md.
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

    // MARK: - Looking up

    // bounded: a test finds a name that stands twice
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Returns the metric of a name; `nil` for one that the table does not hold.
    package static func named(_ name: String) -> MetricDescription? { byName[name] }

    // MARK: - The reference

    /// The tables of docs/metrics.md: `make docs` writes them there, and a test compares the two.
    package static var markdownTables: String {
        Section.allCases.map { section in
            let rows = all.filter { $0.section == section }.map(\.markdownRow)
            return "### \(section.rawValue)\n\n| metric | type | labels | what it says |\n|---|---|---|---|\n"
                + rows.joined()
        }.joined(separator: "\n")
    }

    private var markdownRow: String {
        let labels = labels.map { "`\($0)`" }.joined(separator: ", ")
        let convention = convention.map { " OpenTelemetry: \($0)." } ?? ""
        return "| `\(name)` | \(kind.rawValue) | \(labels) | \(help)\(convention) |\n"
    }
}
