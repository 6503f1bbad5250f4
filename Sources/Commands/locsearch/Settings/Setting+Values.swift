import Foundation
import Kafka
import LocationSearch
import PlaceProviders
import QuotaSharing
import WorkerRuntime

/// Validates values of each kind.
extension Setting {
    /// Returns the value in the form that the program uses; `nil` if it is invalid.
    func accepted(_ value: String) -> String? {
        let isOneLine = !value.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        guard !value.isEmpty, isOneLine else { return nil }

        switch kind {
        case .flag: return Self.flag(value)
        case .choice(let values): return Self.choice(value, of: values)
        case .list(let values): return Self.list(value, of: values)
        case .requestTopics: return Self.requestTopics(value)
        case .url(let canBeOff): return canBeOff && value == "off" ? value : Self.url(value)
        case .urls: return Self.urls(value)
        case .hosts: return Self.hosts(value)
        case .googlePlacesFields: return GooglePlacesFields(text: value)?.text
        default: return fits(value) ? value : nil
        }
    }

    /// Returns whether a value is valid, for kinds whose values are used unchanged.
    private func fits(_ value: String) -> Bool {
        switch kind {
        case .text, .flag, .choice, .list, .requestTopics, .url, .urls, .hosts, .googlePlacesFields: true
        case .proxy: !value.contains(where: \.isWhitespace)
        case .addresses: Self.entries(value).allSatisfy { Self.isAddress($0) }
        case .topic: Self.isTopic(value)
        case .integer(let range): Int(value).map(range.contains) ?? false
        case .number(let range): Double(value).map(range.contains) ?? false
        case .duration(let range, let canBeOff):
            (canBeOff && value == "off") || (Duration(text: value).map(range.contains) ?? false)
        case .properties: Self.properties(value) != nil
        case .timeZone: TimeZone(identifier: value) != nil
        case .budgetReserve: BudgetReserve(text: value) != nil
        case .budgets: BudgetText.list(value) != nil
        case .methodLimits: Self.methodLimits(value) != nil
        case .headers: Self.headers(value) != nil
        case .resourceAttributes: Self.resourceAttributes(value) != nil
        case .fairBy: WorkerConfiguration.FairBy(text: value) != nil
        case .weights: Self.weights(value) != nil
        case .coordinate: Coordinate(text: value) != nil
        }
    }

    private static func flag(_ value: String) -> String? {
        switch value.lowercased() {
        case "true", "yes", "on", "1": "true"
        case "false", "no", "off", "0": "false"
        default: nil
        }
    }

    /// Returns the matching choice, ignoring case. `warn` and `fatal` are accepted too, because programs that share a
    /// `LOG_LEVEL` use them.
    private static func choice(_ value: String, of values: [String]) -> String? {
        let word = value.lowercased()
        return values.first { [word, ["warn": "warning", "fatal": "critical"][word]].contains($0.lowercased()) }
    }

    private static func list(_ value: String, of values: [String]) -> String? {
        let entries = entries(value)
        guard entries.allSatisfy(values.contains), Set(entries).count == entries.count else { return nil }

        return entries.joined(separator: ",")
    }

    private static func requestTopics(_ value: String) -> String? {
        (try? RequestTopic.list(value)) == nil ? nil : entries(value).joined(separator: ",")
    }

    static func isTopic(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.count <= 249 && value != "." && value != ".."
            && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    // MARK: - Lists and properties

    /// Returns the entries of a list, without surrounding spaces.
    static func entries(_ value: String) -> [String] {
        value.split(separator: ",", omittingEmptySubsequences: false).map { entry in
            entry.trimmingCharacters(in: .whitespaces)
        }
    }

    /// Parses `a=b,c=d`. An entry without `=` continues the previous value, so that `debug=broker,topic` is one
    /// property. A comma inside a value is written `\,` if the text after it would be read as the next property.
    /// - Returns: `nil` if a name is missing or occurs twice.
    static func properties(_ value: String) -> [String: String]? {
        var result: [String: String] = [:]
        var last: String?

        // A private-use character replaces escaped commas while the text is split.
        let escape = "\u{F8FF}"
        for entry in entries(value.replacing("\\,", with: escape)).map({ $0.replacing(escape, with: ",") }) {
            if let equals = entry.firstIndex(of: "="), equals != entry.startIndex {
                let name = String(entry[..<equals])
                guard result[name] == nil else { return nil }

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

    /// Parses `name=weight,name=weight`. An entry is split at its last equals sign, because names may contain some.
    /// - Returns: `nil` if a name is missing or occurs twice, or if a weight is invalid.
    static func weights(_ value: String) -> [String: Int]? {
        var result: [String: Int] = [:]
        for entry in entries(value) {
            guard let equals = entry.lastIndex(of: "="), equals != entry.startIndex,
                let weight = Int(entry[entry.index(after: equals)...]), (1...100).contains(weight),
                result.updateValue(weight, forKey: String(entry[..<equals])) == nil
            else { return nil }
        }
        return result
    }

    /// Parses `searchText=5,details=10`, in calls per second.
    /// - Returns: `nil` if a method is unknown or occurs twice, or if a number is out of range.
    static func methodLimits(_ value: String) -> [ProviderMethod: Double]? {
        guard let texts = properties(value) else { return nil }
        var limits: [ProviderMethod: Double] = [:]
        for (name, text) in texts {
            guard let method = ProviderMethod(rawValue: name), let rate = Double(text),
                (0.001...1_000_000).contains(rate)
            else { return nil }
            limits[method] = rate
        }
        return limits
    }

    /// Parses `name=value,name=value`, the format of OpenTelemetry's exporter headers.
    /// - Returns: the decoded values by name; `nil` if a name is missing, invalid or occurs twice, or if a value is
    ///   invalid.
    static func headers(_ value: String) -> [String: String]? {
        let pairs = decodedPairs(
            entries(value), named: { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
        guard let pairs, pairs.values.allSatisfy({ $0.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) } })
        else { return nil }
        return pairs
    }

    /// Parses the value of `OTEL_RESOURCE_ATTRIBUTES`. Names may be of any visible characters, such as
    /// `app.kubernetes.io/name`, and values of all.
    static func resourceAttributes(_ value: String) -> [String: String]? {
        decodedPairs(entries(value).filter { !$0.isEmpty }, named: { $0.isASCII && !$0.isWhitespace })
    }

    private static func decodedPairs(_ entries: [String], named isInName: (Character) -> Bool) -> [String: String]? {
        var result: [String: String] = [:]
        for entry in entries {
            guard let equals = entry.firstIndex(of: "=") else { return nil }
            let name = entry[..<equals].trimmingCharacters(in: .whitespaces)
            let text = entry[entry.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty, name.allSatisfy(isInName), let decoded = text.removingPercentEncoding,
                result.updateValue(decoded, forKey: name) == nil
            else { return nil }
        }
        return result
    }

    // MARK: - Addresses and URLs

    /// Returns true for `host:port`. An IPv6 address must be in brackets.
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

    /// Returns hosts in lower case, and IPv6 addresses without brackets.
    private static func hosts(_ value: String) -> String? {
        var hosts: [String] = []
        for entry in entries(value.lowercased()) {
            let isBracketed = entry.hasPrefix("[") && entry.hasSuffix("]")
            // A final dot makes a name absolute, but is not part of it.
            let host = entry.trimmingCharacters(in: CharacterSet(charactersIn: isBracketed ? "[]" : "."))
            let isAddress = host.split(separator: ":", omittingEmptySubsequences: false).count > 2
            let allowed = isAddress ? ":." : ".-_"
            guard !host.isEmpty, isAddress || !isBracketed,
                host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || allowed.contains($0)) })
            else { return nil }
            hosts.append(host)
        }
        return hosts.joined(separator: ",")
    }

    private static func url(_ value: String) -> String? {
        guard let scheme = ["http://", "https://"].first(where: value.lowercased().hasPrefix) else { return nil }

        let host = value.dropFirst(scheme.count).prefix { $0 != "/" }
        let isPlain = value.allSatisfy { $0.isASCII && !$0.isWhitespace && !"?#@\\\"".contains($0) }
        guard !host.isEmpty, !host.hasPrefix(":"), isPlain else { return nil }

        return String(value.reversed().drop { $0 == "/" }.reversed())
    }

    private static func urls(_ value: String) -> String? {
        let urls = entries(value).map(url)
        return urls.contains(nil) ? nil : urls.compactMap { $0 }.joined(separator: ",")
    }
}
