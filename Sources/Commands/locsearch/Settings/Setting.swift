import Basics
import PlaceProviders
import WorkerRuntime

/// One setting: its name, what it may hold, and what it is for. The table of all of them is `Setting.all`; parsing,
/// checks, `locsearch config`, `--help` and the table in `docs/settings.md` come from it.
struct Setting: Sendable {
    /// The kind of values that a setting may hold.
    enum Kind: Sendable {
        case text
        /// Brokers as `host:port`, separated by commas.
        case addresses
        /// A name that Kafka allows for a topic.
        case topic
        /// Topics of requests, separated by commas, each with the classes that its requests may have: see `RequestTopic.list`.
        case requestTopics
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case flag
        /// A time such as `250ms`, `5s`, `2m` or `1h`.
        case duration(ClosedRange<Duration>, canBeOff: Bool)
        case choice([String])
        /// The position at which a group begins: `earliest`, `latest`, or an RFC 3339 time.
        case startPosition
        /// Several of the values, each once, separated by commas.
        case list([String])
        /// librdkafka's properties as `a=b,c=d`.
        case properties
        /// An http or https URL. A path is kept, slashes at its end are not.
        case url(canBeOff: Bool)
        /// Several of them, separated by commas.
        case urls
        /// Names or addresses of hosts without a port, separated by commas.
        case hosts
        /// A position as `latitude,longitude` in decimal degrees.
        case coordinate
        /// Headers of an HTTP request as `name=value,name=value`, where values may be percent-encoded. All of it is secret.
        case headers
        /// The fields that Google's Places API (New) is asked for each place: see `GooglePlacesFields`.
        case googlePlacesFields
        /// The name of a time zone, such as `Asia/Tokyo`.
        case timeZone
        /// What tells tenants apart: `none`, `source`, `key` or `header:NAME`.
        case fairBy
        /// Weights of tenants as `name=weight,name=weight`, each from 1 to 100.
        case weights
        /// A number of calls, or a percentage of a day's budget: see `BudgetReserve`.
        case budgetReserve
        /// A proxy's URL, which may hold a name and a password.
        case proxy
    }

    let name: String
    let kind: Kind
    /// The value where none is given, as a user would write it; `nil` when the setting is not set then.
    let defaultValue: String?
    private(set) var help = ""
    let isSecret: Bool

    /// - Parameter defaultValue: taken from the configuration struct that the setting ends up in, where it has one.
    init(_ name: String, _ kind: Kind, default defaultValue: String? = nil, isSecret: Bool = false) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.isSecret = isSecret
    }

    /// Returns the settings of a part of the table, each of which stands there with its help.
    static func described(_ settings: KeyValuePairs<Setting, String>) -> [Setting] {
        settings.map { setting, help in
            var setting = setting
            setting.help = help
            return setting
        }
    }

    // bounded: a test finds a name that stands twice
    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The environment variable: `worker.maxRequestBytes` is `WORKER_MAX_REQUEST_BYTES`.
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

    /// The flag: `--worker-max-request-bytes`; `--worker.maxRequestBytes` is understood too.
    var flagName: String { "--" + environmentName.lowercased().replacing("_", with: "-") }

    /// A description of what the setting may hold, for people.
    var expectation: String {
        switch kind {
        case .text: "text"
        case .addresses: "host:port, separated by commas"
        case .topic: Self.topicExpectation
        case .requestTopics:
            Self.topicExpectation
                + "; several are separated by commas, each with the classes of its requests if they are not"
                + " interactive, such as name:batch or name:interactive+batch"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
        case .flag: "true or false"
        case .duration(let range, let canBeOff):
            "a duration from \(range.lowerBound.text) to \(range.upperBound.text), such as 250ms, 5s or 2m"
                + (canBeOff ? ", or off" : "")
        case .choice(let values): "one of " + values.joined(separator: ", ")
        case .startPosition: "earliest, latest, or an RFC 3339 time such as 2026-11-22T09:30:00Z"
        case .list(let values): "some of " + values.joined(separator: ", ") + ", separated by commas"
        case .properties: "name=value pairs separated by commas, each name once"
        case .url(let canBeOff): "an http or https URL without ? and #" + (canBeOff ? ", or off" : "")
        case .hosts: "host names or addresses without a port, separated by commas"
        case .urls: "http or https URLs without ? and #, separated by commas"
        case .coordinate: "latitude,longitude in degrees, such as 35.69,139.70"
        case .headers: "name=value pairs of HTTP headers, separated by commas"
        case .googlePlacesFields: GooglePlacesFields.expectation
        case .timeZone: "a time zone such as Asia/Tokyo, America/Los_Angeles or UTC"
        case .fairBy: "none, source, key, or header:NAME"
        case .weights: "name=weight pairs separated by commas, each weight an integer from 1 to 100"
        case .budgetReserve: "a number of calls, or a percentage from 0% to 100%"
        case .proxy: "an http, https or socks5 URL"
        }
    }

    private static let topicExpectation = "a topic's name: 1 to 249 letters, digits, dots, hyphens or underscores"

    /// Returns true when an environment variable may set the setting to nothing, which counts as not set.
    ///
    /// That is customary for what many installations leave out: keys, passwords, files, a proxy. A choice, a number or a
    /// time is a decision, and so is everything that has a default.
    var mayBeEmpty: Bool {
        guard defaultValue == nil else { return false }

        return switch kind {
        case .text, .proxy, .properties, .headers, .url, .urls, .hosts, .weights: true
        default: false
        }
    }

    /// Returns the value in the form in which the program uses it.
    /// - Parameter origin: where the value stands, for the error.
    /// - Throws: `SettingsError` when it does not fit. A value that is or may hold a secret is not shown.
    func checked(_ value: String, from origin: SettingOrigin = .default) throws(SettingsError) -> String {
        if let accepted = accepted(value) { return accepted }

        let place = origin == .default ? "" : " (\(origin))"
        throw SettingsError(
            "\(name) is \(mayHide(value) ? "not valid" : "\"\(value)\"")\(place): expected \(expectation)"
                + (fault(of: value).map { "; \($0)" } ?? ""))
    }

    /// Returns what is wrong with a value where that can be said more exactly than `expectation` does.
    private func fault(of value: String) -> String? {
        switch kind {
        case .duration: return Double(value) != nil ? Duration.fault(of: value) : nil
        // A value with an at sign may hold a secret: see `mayHide`.
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

    /// Returns a number as a user would write it: `0.2`, and `1` rather than `1.0`.
    static func plain(_ number: Double) -> String {
        number == number.rounded() && number.magnitude < 1e15 ? "\(Int(saturating: number))" : "\(number)"
    }
}
