import Configuration
import Foundation

/// The settings in force, each with where it came from: flags, then environment, then file, then default.
struct Settings: Sendable {
    struct Value: Sendable, Hashable {
        let text: String?
        let origin: Origin
    }

    enum Origin: Sendable, Hashable, CustomStringConvertible {
        case flag
        case environment(String)
        case file(String)
        case `default`

        var description: String {
            switch self {
            case .flag: "command line"
            case .environment(let name): name
            case .file(let path): path
            case .default: "default"
            }
        }
    }

    private(set) var values: [String: Value] = [:]

    /// - Parameter flags: setting by name, as given on the command line.
    /// - Parameter file: `--config`; `nil`: `LOCSEARCH_CONFIG`, if set.
    /// - Parameter environment: a variable that is set to nothing counts as not set.
    /// - Throws: `SettingsError` for the first setting that is unknown or wrong.
    static func load(
        flags: [String: String], file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> Settings {
        try refuseMisspelt(environment)
        let path = file ?? environment["LOCSEARCH_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        var settingsFile: SettingsFile?
        if let path { settingsFile = try await SettingsFile.load(path) }
        let flagProvider = InMemoryProvider(
            values: Dictionary(
                uniqueKeysWithValues: flags.map { (key($0.key), ConfigValue(.string($0.value), isSecret: true)) }))
        let environmentProvider = EnvironmentVariablesProvider(environmentVariables: environment)
        var settings = Settings()
        for setting in Setting.all {
            let found: Value
            if let text = SettingsFile.text(of: setting, in: flagProvider) {
                found = Value(text: text, origin: .flag)
            } else if let text = SettingsFile.text(of: setting, in: environmentProvider) {
                found = Value(text: text, origin: .environment(setting.environmentName))
            } else if let path, let text = try settingsFile?.text(of: setting) {
                found = Value(text: text, origin: .file(path))
            } else {
                settings.values[setting.name] = Value(text: setting.defaultValue, origin: .default)
                continue
            }
            settings.values[setting.name] = Value(text: try found.text.map(setting.checked), origin: found.origin)
        }
        return settings
    }

    private static func key(_ name: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(name.split(separator: ".").map(String.init))
    }

    /// A variable whose name is one or two slips away from one of ours is taken for a misspelt setting; any other is
    /// somebody else's (`KAFKA_PORT`, say, which Kubernetes sets for a service named kafka).
    private static func refuseMisspelt(_ environment: [String: String]) throws(SettingsError) {
        let ours = Setting.all.map(\.environmentName)
        let known = Set(ours)
        // The first letter is taken to be right: an environment can hold hundreds of variables.
        let first = Set(ours.compactMap { $0.first })
        for name in environment.keys.sorted() where !known.contains(name) {
            guard let letter = name.first, first.contains(letter), name.contains("_"),
                let meant = Misspelling.meant(by: name, among: ours)
            else { continue }
            throw SettingsError("the environment variable \(name) is no setting: did you mean \(meant)?")
        }
    }

    // MARK: - Reading

    subscript(_ name: String) -> String? { values[name]?.text }

    /// For settings that have a default.
    func text(_ name: String) -> String { self[name] ?? "" }
    func integer(_ name: String) -> Int { self[name].flatMap { Int($0) } ?? 0 }
    func flag(_ name: String) -> Bool { self[name] == "true" }
    /// `nil` when it is `off` or not set.
    func duration(_ name: String) -> Duration? { self[name].flatMap { Duration(text: $0) } }
    /// `nil` when it is not set.
    func number(_ name: String) -> Double? { self[name].flatMap { Double($0) } }
    func isDefault(_ name: String) -> Bool { values[name]?.origin == .default }

    /// A secret, from its own setting or from the file that another names. Read anew with each call.
    /// - Throws: when both are set, or the file cannot be used.
    func secret(_ name: String, orFile fileSetting: String) throws(SettingsError) -> String? {
        guard let path = self[fileSetting] else { return self[name] }
        guard self[name] == nil else { throw SettingsError("\(name) and \(fileSetting) are both set: use one of them") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingsError("\(fileSetting): \(path) cannot be read")
        }
        guard data.count <= 65_536, let text = String(data: data, encoding: .utf8) else {
            throw SettingsError("\(fileSetting): \(path) is no text of up to 64 KB")
        }
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else { throw SettingsError("\(fileSetting): \(path) is empty") }
        guard !secret.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw SettingsError("\(fileSetting): \(path) holds more than one line")
        }
        return secret
    }
}
