import Basics
import LocationSearch
import PlaceProviders
import WorkerRuntime

/// One setting: its name, its valid values, and its purpose. `Setting.all` is the table of all settings. Parsing,
/// checks, `locsearch config`, `--help` and the table in `docs/settings.md` are derived from it.
struct Setting: Sendable {
    /// The kind of values that a setting accepts.
    enum Kind: Sendable {
        case text
        case addresses
        case topic
        /// Request topics, separated by commas, each with the classes that its requests may have: see
        /// `RequestTopic.list`.
        case requestTopics
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case flag
        /// A duration such as `250ms`, `5s`, `2m` or `1h`.
        case duration(ClosedRange<Duration>, canBeOff: Bool)
        case choice([String])
        /// Several of these values, each at most once, separated by commas.
        case list([String])
        /// librdkafka's properties.
        case properties
        /// An http or https URL. Slashes at its end are removed.
        case url(canBeOff: Bool)
        case urls
        case hosts
        case coordinate
        /// HTTP headers as `name=value,name=value`, where values may be percent-encoded. The whole text is secret.
        case headers
        /// OpenTelemetry's attributes of a resource, in the same form.
        case resourceAttributes
        /// The fields of a place that are requested from Google's Places API (New): see `GooglePlacesFields`.
        case googlePlacesFields
        case timeZone
        case fairBy
        case weights
        case budgetReserve
        /// Budgets, separated by semicolons: see `BudgetText`.
        case budgets
        /// Calls per second by method of the provider's API: `searchText=5,details=10`.
        case methodLimits
        /// A proxy's URL, which may contain a user name and a password.
        case proxy
    }

    var name: String
    let kind: Kind
    /// The default value, as a user would write it; `nil` if there is no default.
    var defaultValue: String?
    /// The setting whose value applies if this one is not set; `nil`: `defaultValue`.
    var fallback: String?
    private(set) var help = ""
    let isSecret: Bool

    /// - Parameter defaultValue: read from the configuration struct that uses the setting, if it has a default.
    init(_ name: String, _ kind: Kind, default defaultValue: String? = nil, isSecret: Bool = false) {
        (self.name, self.kind, self.defaultValue, self.isSecret) = (name, kind, defaultValue, isSecret)
    }

    /// Returns settings with their help texts, from pairs of both.
    static func described(_ settings: KeyValuePairs<Setting, String>) -> [Setting] {
        settings.map { setting, help in
            var setting = setting
            setting.help = help
            return setting
        }
    }

    // bounded: a test detects duplicate names
    static let byName = Dictionary(uniqueKeysWithValues: accepted.map { ($0.name, $0) })

    /// The environment variable: `WORKER_MAX_REQUEST_BYTES` for `worker.maxRequestBytes`.
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

    /// The flag: `--worker-max-request-bytes`. `--worker.maxRequestBytes` is accepted too.
    var flagName: String { "--" + environmentName.lowercased().replacing("_", with: "-") }

    /// A description of the valid values, for messages and documentation.
    var expectation: String {
        switch kind {
        case .text: "text"
        case .addresses: "host:port, separated by commas"
        case .topic: Self.topicExpectation
        case .requestTopics:
            Self.topicExpectation
                + "; separate several by commas, and add the classes of their requests unless all are interactive,"
                + " such as name:batch or name:interactive+batch"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
        case .flag: "true or false"
        case .duration(let range, let canBeOff):
            "a duration from \(range.lowerBound.text) to \(range.upperBound.text), such as 250ms, 5s or 2m"
                + (canBeOff ? ", or off" : "")
        case .choice(let values): "one of " + values.joined(separator: ", ")
        case .list(let values): "some of " + values.joined(separator: ", ") + ", separated by commas"
        case .properties: "name=value pairs separated by commas, each name once"
        case .url(let canBeOff): "an http or https URL without ? and #" + (canBeOff ? ", or off" : "")
        case .hosts: "host names or addresses without a port, separated by commas"
        case .urls: "http or https URLs without ? and #, separated by commas"
        case .coordinate: "latitude,longitude in degrees, such as 35.69,139.70"
        case .headers: "name=value pairs of HTTP headers, separated by commas"
        case .resourceAttributes: "name=value pairs separated by commas, with other commas percent-encoded"
        case .googlePlacesFields: GooglePlacesFields.expectation
        case .timeZone: "a time zone such as Asia/Tokyo, America/Los_Angeles or UTC"
        case .fairBy: "none, source, key, or header:NAME"
        case .weights: "name=weight pairs separated by commas, each weight an integer from 1 to 100"
        case .budgetReserve: "a number of calls, or a percentage from 0% to 100%"
        case .budgets:
            "budgets separated by semicolons, each for all or one price class, in calls or money, per day or month, such as \(BudgetText.form)"
        case .methodLimits:
            "method=number pairs separated by commas, in calls per second: \(ProviderMethod.allCases.map(\.rawValue).joined(separator: ", "))"
        case .proxy: "an http, https or socks5 URL"
        }
    }

    private static let topicExpectation = "a topic's name: 1 to 249 letters, digits, dots, hyphens or underscores"

    /// Returns true if an empty environment variable counts as not set.
    ///
    /// This is customary for optional values such as keys, passwords, files and proxies. A choice, a number or a
    /// duration must not be empty, and neither must a setting with a default.
    var mayBeEmpty: Bool {
        guard defaultValue == nil else { return false }

        return switch kind {
        case .text, .proxy, .properties, .headers, .url, .urls, .hosts, .weights, .budgets, .methodLimits: true
        default: false
        }
    }

    /// Returns the value in the form that the program uses.
    /// - Parameter origin: the source of the value, for the error.
    /// - Throws: `SettingsError` if the value is invalid. The error does not contain a value that is or may hold a
    ///   secret.
    func checked(_ value: String, from origin: SettingOrigin = .default) throws(SettingsError) -> String {
        if let accepted = accepted(value) { return accepted }

        let place = origin == .default ? "" : " (\(origin))"
        throw SettingsError(
            "\(name) is \(mayHide(value) ? "not valid" : "\"\(value)\"")\(place): expected \(expectation)"
                + (fault(of: value).map { "; \($0)" } ?? ""))
    }

    /// Returns what is wrong with a value, if that can be described more precisely than by `expectation`.
    private func fault(of value: String) -> String? {
        if value.unicodeScalars.contains("\n") { return "it contains a line feed: remove it" }
        switch kind {
        case .duration: return Double(value) != nil ? Duration.fault(of: value) : nil
        // A value with an at sign may contain a secret: see `mayHide`.
        case .requestTopics where !mayHide(value):
            do throws(RequestTopic.Fault) {
                _ = try RequestTopic.list(value)
                return nil
            } catch {
                return error.description
            }
        default: return nil
        }
    }

    /// Formats a number as a user would write it: `0.2`, and `1` instead of `1.0`.
    static func plain(_ number: Double) -> String {
        number == number.rounded() && number.magnitude < 1e15 ? "\(Int(saturating: number))" : "\(number)"
    }
}

/// The source of a setting's value.
enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case flag
    case environment(String)
    case file(String, line: Int)
    case `default`

    var description: String {
        switch self {
        case .flag: "command line"
        case .environment(let name): name
        case .file(let path, let line): "\(path), line \(line)"
        case .default: "default"
        }
    }
}

/// One or several wrong settings, each with a line that names it and states what to do. Ends the process with exit code
/// 78.
struct SettingsError: Error, Hashable, CustomStringConvertible {
    /// One line for each mistake; never empty.
    let mistakes: [String]

    init(_ description: String) { mistakes = [description] }

    /// Combines several errors, so that users see all mistakes at once.
    /// - Parameter errors: at least one.
    init(all errors: [SettingsError]) { mistakes = errors.flatMap(\.mistakes) }

    var description: String { mistakes.joined(separator: "\nlocsearch: ") }
}
