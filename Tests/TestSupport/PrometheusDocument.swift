/// The text of `/metrics`, parsed and checked against the exposition format, version 0.0.4.
package struct PrometheusDocument: Sendable {
    /// One series and its value.
    package struct Sample: Sendable, Hashable {
        package let name: String
        package let labels: [String: String]
        package let value: Double
    }

    /// One metric with all its series.
    package struct Family: Sendable {
        package let kind: String
        package fileprivate(set) var samples: [Sample] = []
    }

    package private(set) var families: [String: Family] = [:]
    /// All violations of the format, one line each.
    package private(set) var problems: [String] = []

    /// The number of series.
    package var seriesCount: Int { families.values.reduce(0) { $0 + $1.samples.count } }

    package init(_ text: String) {
        if !text.hasSuffix("\n") { problems.append("the last line has no end") }

        var current: String?
        var explained: Set<String> = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            if words.first == "#", words.count == 4 {
                if words[1] == "HELP" {
                    if !explained.insert(words[2]).inserted { problems.append("two explanations: \(line)") }
                    current = nil
                } else if words[1] == "TYPE" {
                    if families[words[2]] != nil { problems.append("a family in two places: \(line)") }
                    if !explained.contains(words[2]) { problems.append("no explanation before: \(line)") }
                    if !["counter", "gauge", "histogram"].contains(words[3]) { problems.append("kind: \(line)") }
                    families[words[2]] = Family(kind: words[3])
                    current = words[2]
                } else {
                    problems.append("comment: \(line)")
                }
            } else {
                add(line, to: current)
            }
        }
        checkHistograms()
    }

    /// Returns the value of a series; `nil` if there is none with exactly these labels.
    package func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let family = families.first { name == $0.key || $0.value.kind == "histogram" && name.hasPrefix($0.key + "_") }
        return family?.value.samples.first { $0.name == name && $0.labels == labels }?.value
    }

    /// Returns the sum over all series of a name; 0 if there is none.
    package func total(_ name: String) -> Double {
        families.values.flatMap(\.samples).filter { $0.name == name }.reduce(0) { $0 + $1.value }
    }

    // MARK: - Samples

    private mutating func add(_ line: Substring, to family: String?) {
        guard let family, let sample = Self.sample(line) else { return problems.append("no sample: \(line)") }

        let isHistogram = families[family]?.kind == "histogram"
        let names = isHistogram ? ["_bucket", "_sum", "_count"].map { family + $0 } : [family]
        if !names.contains(sample.name) { problems.append("outside of its family: \(line)") }
        let isKnown = families[family]?.samples.contains { $0.name == sample.name && $0.labels == sample.labels }
        if isKnown == true { problems.append("a series twice: \(line)") }
        families[family]?.samples.append(sample)
    }

    private static func sample(_ line: Substring) -> Sample? {
        guard let space = line.lastIndex(of: " "), let value = number(line[line.index(after: space)...]) else {
            return nil
        }
        var (name, labels) = (line[..<space], [String: String]())
        if let brace = name.firstIndex(of: "{") {
            guard name.last == "}", let read = self.labels(name[name.index(after: brace)...].dropLast()) else {
                return nil
            }
            (name, labels) = (name[..<brace], read)
        }

        guard isName(name, more: "_:") else { return nil }
        return Sample(name: String(name), labels: labels, value: value)
    }

    private static func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: Double(text)
        }
    }

    /// Parses `a="b",c="d"`. A quote, a backslash and a line feed in a value follow a backslash.
    private static func labels(_ text: Substring) -> [String: String]? {
        var labels: [String: String] = [:]
        var rest = text
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "="), isName(rest[..<equals], more: "_") else { return nil }
            let name = String(rest[..<equals])
            rest = rest[equals...].dropFirst()
            guard rest.popFirst() == "\"" else { return nil }

            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\" else {
                    value.append(character)
                    continue
                }
                guard let escaped = rest.popFirst(), let plain = ["\\": "\\", "\"": "\"", "n": "\n"][escaped] else {
                    return nil
                }
                value += plain
            }

            guard labels.updateValue(value, forKey: name) == nil else { return nil }
            if !rest.isEmpty, rest.popFirst() != "," { return nil }
        }
        return labels
    }

    private static func isName(_ text: Substring, more: String) -> Bool {
        guard let first = text.first, !first.isNumber else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || more.contains($0)) }
    }

    // MARK: - Histograms

    /// Buckets must ascend and add up, and agree with the count.
    private mutating func checkHistograms() {
        for (name, family) in families where family.kind == "histogram" {
            let buckets = family.samples.filter { $0.name == name + "_bucket" }
            let series = Dictionary(grouping: buckets) { $0.labels.filter { $0.key != "le" } }
            for (labels, buckets) in series {
                let bounds = buckets.map { Self.number($0.labels["le"].map { $0[...] } ?? "") ?? .nan }
                let counts = buckets.map(\.value)
                if bounds != bounds.sorted() || bounds.last != .infinity || Set(bounds).count != bounds.count {
                    problems.append("bounds of \(name) \(labels): \(bounds)")
                }
                if counts != counts.sorted() { problems.append("buckets of \(name) \(labels): \(counts)") }

                let (sum, count) = (value(name + "_sum", labels), value(name + "_count", labels))
                if count != counts.last { problems.append("count of \(name) \(labels)") }
                guard let sum, sum >= 0, sum > 0 || counts[0] == count else {
                    problems.append("sum of \(name) \(labels)")
                    continue
                }
                // The values in a bucket are larger than the bound of the previous one.
                let least = zip(bounds, zip(counts, counts.dropFirst())).reduce(0.0) { $0 + $1.0 * ($1.1.1 - $1.1.0) }
                if sum < least * 0.999 { problems.append("sum of \(name) \(labels): \(sum), at least \(least)") }
            }
        }
    }
}
