import Kafka

/// One setting: its name, what it may hold, and what it is for. The table of all of them is `Setting.all`; parsing,
/// checks, `locsearch config`, `--help` and the table in `docs/settings.md` come from it.
struct Setting: Sendable {
    enum Kind: Sendable {
        case text
        /// `host:port`, separated by commas.
        case addresses
        /// What Kafka allows as the name of a topic.
        case topic
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case flag
        /// `250ms`, `5s`, `2m`, `1h`.
        case duration(ClosedRange<Duration>, canBeOff: Bool)
        case choice([String])
        /// `earliest`, `latest`, or an RFC 3339 time.
        case startPosition
        /// Several of them, each once, separated by commas.
        case list([String])
        /// `a=b,c=d`.
        case properties
        /// http or https; what stands behind the host is kept, a slash at the end is not.
        case url
        /// A proxy's URL, which may hold a name and a password.
        case proxy
    }

    let name: String
    let kind: Kind
    /// As a user would write it; `nil`: not set.
    let defaultValue: String?
    let help: String
    var isSecret = false

    init(
        _ name: String, _ kind: Kind, _ defaultValue: String? = nil, _ help: String, isSecret: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.help = help
        self.isSecret = isSecret
    }

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

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
        case .addresses: "host:port, separated by commas"
        case .topic: "a topic's name: 1 to 249 letters, digits, dots, hyphens or underscores"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
        case .flag: "true or false"
        case .duration(let range, let canBeOff):
            "a duration from \(range.lowerBound.text) to \(range.upperBound.text), such as 250ms, 5s or 2m"
                + (canBeOff ? ", or off" : "")
        case .choice(let values): "one of " + values.joined(separator: ", ")
        case .startPosition: "earliest, latest, or an RFC 3339 time such as 2026-11-22T09:30:00Z"
        case .list(let values): "some of " + values.joined(separator: ", ") + ", separated by commas"
        case .properties: "name=value pairs separated by commas"
        case .url: "an http or https URL without ? and #"
        case .proxy: "an http, https or socks5 URL"
        }
    }

    /// Returns true when an environment variable may set the setting to nothing, which counts as not set.
    ///
    /// That is customary for what many installations leave out: keys, passwords, files, a proxy. A choice, a number or a
    /// time is a decision, and so is everything that has a default.
    var mayBeEmpty: Bool {
        guard defaultValue == nil else { return false }

        return switch kind {
        case .text, .proxy, .properties: true
        default: false
        }
    }

    /// Returns the value in the form in which the program uses it.
    /// - Parameter origin: where the value stands, for the error.
    /// - Throws: `SettingsError` when it does not fit. A value that is or may hold a secret is not shown.
    func checked(_ value: String, from origin: Settings.Origin = .default) throws(SettingsError) -> String {
        if let accepted = accepted(value) { return accepted }

        let place = origin == .default ? "" : " (\(origin))"
        throw SettingsError(
            "\(name) is \(mayHide(value) ? "not valid" : "\"\(value)\"")\(place): expected \(expectation)")
    }

    /// - Returns: `nil` when the value does not fit.
    private func accepted(_ value: String) -> String? {
        guard !value.isEmpty, !value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            return nil
        }
        let fits: Bool
        switch kind {
        case .text: fits = true
        case .proxy: fits = !value.contains(where: \.isWhitespace)
        case .addresses: fits = Self.areAddresses(value)
        case .topic:
            fits =
                value.utf8.count <= 249 && value != "." && value != ".."
                && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        case .integer(let range): fits = Int(value).map(range.contains) ?? false
        case .number(let range): fits = Double(value).map(range.contains) ?? false
        case .flag:
            switch value.lowercased() {
            case "true", "yes", "on", "1": return "true"
            case "false", "no", "off", "0": return "false"
            default: return nil
            }
        case .duration(let range, let canBeOff):
            fits = (canBeOff && value == "off") || (Duration(text: value).map(range.contains) ?? false)
        case .choice(let values): fits = values.contains(value)
        case .startPosition: fits = StartPosition(text: value) != nil
        case .list(let values):
            let entries = Self.entries(value)
            guard !entries.isEmpty, entries.allSatisfy(values.contains), Set(entries).count == entries.count else {
                return nil
            }
            return entries.joined(separator: ",")
        case .properties: fits = Self.properties(value) != nil
        case .url: return Self.url(value)
        }
        return fits ? value : nil
    }

    /// The entries of a list, without the blanks around them.
    static func entries(_ value: String) -> [String] {
        value.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.trimmingPrefix(while: \.isWhitespace).reversed().trimmingPrefix(while: \.isWhitespace).reversed())
        }
    }

    /// Reads `a=b,c=d`. An entry without `=` continues the value before it, so that `debug=broker,topic` is one property;
    /// a comma that would be taken for the next property's is written `\,`.
    /// - Returns: `nil` when a name is missing.
    static func properties(_ value: String) -> [String: String]? {
        var result: [String: String] = [:]
        var last: String?

        // A private-use character stands for the escaped comma while the text is split.
        let escape = "\u{F8FF}"
        for entry in entries(value.replacing("\\,", with: escape)).map({ $0.replacing(escape, with: ",") }) {
            if let equals = entry.firstIndex(of: "="), equals != entry.startIndex {
                let name = String(entry[..<equals])
                result[name] = String(entry[entry.index(after: equals)...])
                last = name
            } else if let last, let begun = result[last], !entry.isEmpty, !entry.hasPrefix("=") {
                result[last] = begun + "," + entry
            } else {
                return nil
            }
        }
        return result
    }

    private static func areAddresses(_ value: String) -> Bool { entries(value).allSatisfy(isAddress) }

    /// Returns true for `host:port`, where an IPv6 address as host stands in brackets.
    private static func isAddress(_ entry: String) -> Bool {
        guard let colon = entry.lastIndex(of: ":") else { return false }

        let port = entry[entry.index(after: colon)...]
        guard port.allSatisfy({ $0.isASCII && $0.isNumber }), (1...65_535).contains(Int(port) ?? 0) else {
            return false
        }

        let host = entry[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 2
                && host.dropFirst().dropLast().allSatisfy {
                    $0.isASCII && $0.isLetter || $0.isNumber || ":.%-_".contains($0)
                }
        }
        return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isNumber || ".-_".contains($0) }
    }

    private static func url(_ value: String) -> String? {
        guard let scheme = ["http://", "https://"].first(where: value.lowercased().hasPrefix) else { return nil }
        let rest = value.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" }
        guard !host.isEmpty, !host.hasPrefix(":"), value.allSatisfy(\.isASCII),
            !value.contains(where: { $0.isWhitespace || "?#@\\\"".contains($0) })
        else { return nil }
        return String(value.reversed().drop { $0 == "/" }.reversed())
    }

    private static func plain(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
    }
}

/// A wrong setting: one line that names it. Exit code 78.
struct SettingsError: Error, Hashable, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
