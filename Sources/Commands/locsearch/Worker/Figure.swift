import JSON
import Observability

/// One value of a subject, defined once for both outputs. `/status` shows it as a member of a JSON object. `/metrics`
/// shows it as a metric, whose kind and help come from `MetricDescription`.
struct Figure<Subject>: Sendable {
    enum Value: Sendable {
        case count(Int)
        case number(Double)
        /// One of several names, or none. The metric has a series for each name, and the current one has the value 1.
        case choice(String?, of: [String], label: String)
    }

    /// The member in `/status`; `nil` for a figure that only `/metrics` shows.
    let member: StaticString?
    /// The name of the metric without its prefix; `nil` for a figure that only `/status` shows.
    let metric: String?
    /// Returns the value; `nil` if the subject has none, so that it is left out.
    let value: @Sendable (Subject) -> Value?

    init(
        member: StaticString? = nil, metric: String? = nil, _ value: @escaping @Sendable (Subject) -> Value?
    ) {
        self.member = member
        self.metric = metric
        self.value = value
    }

    func write(_ subject: Subject, to json: inout JSONWriter) {
        guard let member, let value = value(subject) else { return }

        switch value {
        case .count(let count): json.member(member, count)
        case .number(let number): json.member(member, number)
        case .choice(let name, of: _, label: _): json.member(member, name)
        }
    }

    /// Returns the metric with the samples of all subjects.
    /// - Parameters:
    ///   - prefix: the beginning of the metric's name.
    ///   - subjects: each with the label for its samples.
    func family(prefix: String, of subjects: [(label: (String, String), subject: Subject)]) -> String {
        guard let metric else { return "" }
        return PrometheusText.family(prefix + metric, subjects.flatMap { samples(of: $0.subject, label: $0.label) })
    }

    private func samples(
        of subject: Subject, label: (String, String)
    ) -> [(labels: [(String, String)], value: Double)] {
        switch value(subject) {
        case nil: []
        case .count(let count): [([label], Double(count))]
        case .number(let number): [([label], number)]
        case .choice(let current, of: let names, label: let choice):
            names.map { ([label, (choice, $0)], $0 == current ? 1 : 0) }
        }
    }
}
