/// One setting: its name, what it may hold, and what it is for. The table of all of them is `Setting.all`; parsing,
/// `locsearch config`, `--help` and the README's table come from it.
struct Setting: Sendable {
    enum Kind: Sendable {
        case text
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case flag
        /// `250ms`, `5s`, `2m`, `1h`.
        case duration(ClosedRange<Duration>, canBeOff: Bool)
        case choice([String])
        /// `a=b,c=d`.
        case properties
        /// http or https, without a path of its own.
        case url
    }

    let name: String
    let kind: Kind
    /// As a user would write it; `nil`: not set.
    let defaultValue: String?
    let help: String
    var isSecret = false

    init(_ name: String, _ kind: Kind, _ defaultValue: String? = nil, _ help: String, isSecret: Bool = false) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.help = help
        self.isSecret = isSecret
    }

    /// Its environment variable: `worker.maxRequestBytes` is `WORKER_MAX_REQUEST_BYTES`.
    var environmentName: String {
        var result = ""
        var previous: Character = "."
        for character in name {
            if character == "." {
                result.append("_")
            } else {
                if character.isUppercase, previous.isLowercase { result.append("_") }
                result.append(character.uppercased())
            }
            previous = character
        }
        return result
    }

    /// Its flag: `--worker-max-request-bytes`; `--worker.maxRequestBytes` is understood too.
    var flagName: String { "--" + environmentName.lowercased().replacing("_", with: "-") }

    /// What it may hold, for people.
    var expectation: String {
        switch kind {
        case .text: "text"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .duration(let range, let canBeOff):
            "a duration from \(range.lowerBound.text) to \(range.upperBound.text), such as 250ms, 5s or 2m"
                + (canBeOff ? ", or off" : "")
        case .choice(let values): "one of " + values.joined(separator: ", ")
        case .properties: "name=value pairs separated by commas"
        case .url: "an http or https URL"
        }
    }

    /// Whether `value` fits; it is not shown in the message when it is secret.
    func check(_ value: String) throws(SettingsError) {
        let fits: Bool =
            switch kind {
            case .text: !value.isEmpty
            case .integer(let range): Int(value).map(range.contains) ?? false
            case .number(let range): Double(value).map(range.contains) ?? false
            case .flag: value == "true" || value == "false"
            case .duration(let range, let canBeOff):
                (canBeOff && value == "off") || (Duration(text: value).map(range.contains) ?? false)
            case .choice(let values): values.contains(value)
            case .properties: Self.properties(value) != nil
            case .url: value.hasPrefix("http://") || value.hasPrefix("https://")
            }
        guard fits else {
            throw SettingsError("\(name) is \(isSecret ? "not valid" : "\"\(value)\""): expected \(expectation)")
        }
    }

    /// - Returns: `nil` when an entry has no `=`.
    static func properties(_ value: String) -> [String: String]? {
        var result: [String: String] = [:]
        for entry in value.split(separator: ",") {
            guard let equals = entry.firstIndex(of: "="), equals != entry.startIndex else { return nil }
            let name = entry[..<equals].trimmingPrefix(while: \.isWhitespace)
            result[String(name)] = String(entry[entry.index(after: equals)...])
        }
        return result
    }
}

/// A wrong setting: one line that names it. Exit code 78.
struct SettingsError: Error, Hashable, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Duration {
    /// Reads `250ms`, `5s`, `2m`, `1h`; fractions are allowed.
    init?(text: String) {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        for (unit, seconds) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number >= 0, number < 1e9 else { return nil }
            self = .seconds(number * seconds)
            return
        }
        return nil
    }

    /// The shortest way to write it.
    var text: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return switch milliseconds {
        case 0: "0ms"
        case let value where value % 3_600_000 == 0: "\(value / 3_600_000)h"
        case let value where value % 60_000 == 0: "\(value / 60_000)m"
        case let value where value % 1000 == 0: "\(value / 1000)s"
        case let value: "\(value)ms"
        }
    }
}
