import JSON
import Observability

/// One value of a subject, described once for both of its readers: `/status` writes it as a member of a JSON object, and
/// `/metrics` as a metric whose kind and help are those of `MetricDescription`.
struct Figure<Subject>: Sendable {
    enum Value: Sendable {
        case count(Int)
        case number(Double)
        /// One of several names, or none of them. A metric has a series for each name, and 1 is the value of the current one.
        case choice(String?, of: [String], label: String)
    }

    /// The member of `/status`; `nil` for a figure that only `/metrics` shows.
    let member: StaticString?
    /// The metric without its prefix; `nil` for a figure that only `/status` shows.
    let metric: String?
    /// Returns `nil` where the subject has no such value: it is left out then.
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
    ///   - prefix: what the metric's name begins with.
    ///   - subjects: each with the label that its samples have.
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
