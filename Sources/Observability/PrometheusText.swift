/// The exposition format, version 0.0.4, for values that are computed when they are asked for.
package enum PrometheusText {
    package enum Kind: String, Sendable { case counter, gauge }

    /// One metric with its samples.
    /// - Parameter samples: labels in the order in which they are to stand, and the value.
    package static func family(
        _ name: String, _ kind: Kind, help: String, _ samples: [(labels: [(String, String)], value: Double)]
    ) -> String {
        guard !samples.isEmpty else { return "" }
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = labels(sample.labels)
            text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(number(sample.value))\n"
        }
        return text
    }

    static func labels(_ labels: [(String, String)]) -> String {
        labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }.joined(separator: ",")
    }

    /// Whole numbers without a fraction; infinity and NaN as the format spells them.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }
}
