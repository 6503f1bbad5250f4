import Configuration
import Foundation
import SystemPackage

/// The settings in force, each with where it came from: flags, then environment, then file, then default.
struct Settings: Sendable {
    struct Value: Sendable {
        let text: String?
        /// `flag`, `environment`, `file` or `default`.
        let origin: String
    }

    private(set) var values: [String: Value] = [:]

    /// - Parameter flags: setting by name, as given on the command line.
    /// - Parameter file: `--config`; `nil`: `LOCSEARCH_CONFIG`, if set.
    /// - Throws: `SettingsError` for the first setting that is unknown or wrong.
    static func load(
        flags: [String: String], file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> Settings {
        try refuseMisspelt(environment)
        var sources: [(origin: String, provider: any ConfigProvider)] = [
            (
                "flag",
                InMemoryProvider(
                    values: Dictionary(
                        uniqueKeysWithValues: flags.map {
                            (key($0.key), ConfigValue(.string($0.value), isSecret: false))
                        }))
            ),
            ("environment", EnvironmentVariablesProvider(environmentVariables: environment)),
        ]
        if let path = file ?? environment["LOCSEARCH_CONFIG"], !path.isEmpty {
            sources.append(("file", try await SettingsFile.load(path)))
        }
        var settings = Settings()
        for setting in Setting.all {
            let found = sources.lazy.compactMap { source in
                text(of: setting, in: source.provider).map { Value(text: $0, origin: source.origin) }
            }.first
            if let text = found?.text { try setting.check(text) }
            settings.values[setting.name] = found ?? Value(text: setting.defaultValue, origin: "default")
        }
        return settings
    }

    private static func key(_ name: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(name.split(separator: ".").map(String.init))
    }

    /// Files may hold numbers and flags as such.
    private static func text(of setting: Setting, in provider: any ConfigProvider) -> String? {
        for type in [ConfigType.string, .int, .double, .bool] {
            guard let found = try? provider.value(forKey: key(setting.name), type: type).value else { continue }
            switch found.content {
            case .string(let text): return text.isEmpty ? nil : text
            case .int(let number): return "\(number)"
            case .double(let number): return "\(number)"
            case .bool(let flag): return "\(flag)"
            default: continue
            }
        }
        return nil
    }

    /// A variable that is one slip away from one of ours is taken for a misspelt setting; any other is somebody else's
    /// (`KAFKA_PORT`, which Kubernetes sets for a service named kafka).
    private static func refuseMisspelt(_ environment: [String: String]) throws(SettingsError) {
        let ours = Set(Setting.all.map(\.environmentName))
        for name in environment.keys.sorted() where !ours.contains(name) {
            guard let meant = ours.first(where: { isOneSlipAway(name, from: $0) }) else { continue }
            throw SettingsError("\(name) is no setting: did you mean \(meant)?")
        }
    }

    /// One letter more, less, other, or two swapped; in names long enough for that to be no chance.
    static func isOneSlipAway(_ a: String, from b: String) -> Bool {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        guard a != b, a.count >= 9, abs(a.count - b.count) <= 1 else { return false }
        let head = zip(a, b).prefix { $0 == $1 }.count
        let tail = zip(a.reversed(), b.reversed()).prefix { $0 == $1 }.count
        if a.count != b.count { return head + tail >= min(a.count, b.count) }
        if head + tail >= a.count - 1 { return true }
        return head + tail == a.count - 2 && a[head] == b[head + 1] && a[head + 1] == b[head]
    }

    // MARK: - Reading

    subscript(_ name: String) -> String? { values[name]?.text }

    /// For settings that have a default.
    func text(_ name: String) -> String { self[name] ?? "" }
    func integer(_ name: String) -> Int { self[name].flatMap { Int($0) } ?? 0 }
    func duration(_ name: String) -> Duration? { self[name].flatMap { Duration(text: $0) } }

    /// A secret, from its own setting or from the file that another names.
    func secret(_ name: String, orFile fileSetting: String) throws(SettingsError) -> String? {
        guard let path = self[fileSetting] else { return self[name] }
        guard self[name] == nil else { throw SettingsError("\(name) and \(fileSetting) are both set: use one") }
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
        else { throw SettingsError("\(fileSetting): cannot read \(path)") }
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else { throw SettingsError("\(fileSetting): \(path) is empty") }
        return secret
    }
}
