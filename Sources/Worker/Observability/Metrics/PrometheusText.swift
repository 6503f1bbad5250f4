internal import Basics

/// The exposition format, version 0.0.4, for values that are computed on demand.
package enum PrometheusText {
    /// Returns a text of version 0.0.4 as OpenMetrics 1.0, where the name of a counter has no suffix in the lines before its
    /// samples.
    package static func openMetrics(_ text: String) -> String {
        text.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            guard words.count == 4, words[0] == "#", words[2].hasSuffix("_total") else { return line + "\n" }
            return "# \(words[1]) \(words[2].dropLast(6)) \(words[3])\n"
        }.joined() + "# EOF\n"
    }

    /// Returns one metric with its samples. Its type and help text come from the table of metrics.
    /// - Parameter samples: labels in their order of output, and the value. Without samples, the metric is omitted.
    package static func family(_ name: String, _ samples: [(labels: [(String, String)], value: Double)]) -> String {
        guard !samples.isEmpty else { return "" }

        var text = head(name, MetricDescription.named(name)?.kind ?? .gauge)
        for sample in samples {
            let labels = labels(sample.labels)
            text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(number(sample.value))\n"
        }
        return text
    }

    /// Returns one metric without labels.
    package static func family(_ name: String, _ value: Double) -> String { family(name, [([], value)]) }

    /// Returns the lines before a metric's samples.
    static func head(_ name: String, _ kind: MetricDescription.Kind) -> String {
        let help = MetricDescription.named(name).map { "# HELP \(name) \($0.help)\n" } ?? ""
        return help + "# TYPE \(name) \(kind.rawValue)\n"
    }

    static func labels(_ labels: [(String, String)]) -> String {
        var text = ""
        for (name, value) in labels {
            if !text.isEmpty { text += "," }
            text += name + "=\""
            appendEscaped(value, to: &text)
            text += "\""
        }
        return text
    }

    private static func appendEscaped(_ value: String, to text: inout String) {
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
    }

    /// Formats whole numbers without a fraction, and infinity and NaN as the format requires.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(saturating: value))" : "\(value)"
    }
}

/// The name of a metric with its labels, as in the exposition.
struct SeriesName: Hashable, Comparable, CustomStringConvertible {
    let label: String
    let dimensions: String

    var description: String { label + (dimensions.isEmpty ? "" : "{\(dimensions)}") }

    static func < (a: SeriesName, b: SeriesName) -> Bool { (a.label, a.dimensions) < (b.label, b.dimensions) }
}

/// The values of one metric with one set of labels.
protocol MetricSeries: AnyObject, Sendable {
    var kind: MetricDescription.Kind { get }
    /// True for a histogram without observations.
    var isEmpty: Bool { get }

    /// Returns the lines of the exposition, without the header.
    func text(_ name: SeriesName, withExemplars: Bool) -> String
}
