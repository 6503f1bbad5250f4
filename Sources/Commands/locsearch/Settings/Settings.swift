import Configuration
import Foundation

/// The settings in force, each with its source. Flags override the environment, which overrides the file, which
/// overrides defaults.
struct Settings: Sendable {
    struct Value: Sendable, Hashable {
        /// The value in the form that the program uses; `nil` if the setting is not set and has no default.
        let text: String?
        let origin: SettingOrigin
    }

    private(set) var values: [String: Value] = [:]
    /// The environment variables that are ignored, each with the reason. They never stop a command.
    private(set) var warnings: [String] = []

    // MARK: - Loading

    /// A source of settings. Sources are searched in order of precedence.
    private struct Source {
        let provider: any ConfigProvider
        let origin: @Sendable (Setting) -> SettingOrigin

        /// Returns the setting's text, which may be empty; `nil` if this source does not contain the setting.
        func text(of setting: Setting) -> String? {
            guard let found = try? provider.value(forKey: Settings.key(setting.name), type: .string).value,
                case .string(let text) = found.content
            else { return nil }

            return text
        }
    }

    /// - Parameter flags: the settings from the command line, by name.
    /// - Parameter file: the path from `--config`; `nil` uses `LOCSEARCH_CONFIG` if that is set.
    /// - Parameter environment: the environment variables.
    /// - Throws: `SettingsError` with all unknown, empty and invalid settings.
    static func load(
        flags: [String: String], file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SettingsError) -> Settings {
        try read(flags: flags, file: file, environment: environment).loaded()
    }

    /// Reads everything that can be read, and records the mistakes. See `load` for the parameters.
    static func read(
        flags: [String: String], file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> SettingsReading {
        var reading = SettingsReading(mistakes: [])
        reading.settings.warnings = misspelt(environment)
        let sources = sources(flags: flags, file: file, environment: environment, reading: &reading)

        for setting in Setting.accepted {
            do throws(SettingsError) {
                let values = reading.settings.values
                reading.settings.values[setting.name] =
                    try value(of: setting, in: sources) ?? setting.inherited(from: values)
            } catch {
                reading.settings.values[setting.name] = Value(text: setting.defaultValue, origin: .default)
                reading.wrong.insert(setting.name)
                reading.mistakes.append(error)
            }
        }
        if environment["OTEL_SDK_DISABLED"]?.lowercased() == "true" {
            reading.settings.values["tracing.endpoint"] = Value(text: "off", origin: .environment("OTEL_SDK_DISABLED"))
        }
        return reading
    }

    /// - Parameter reading: receives the unknown names in the file, or why it cannot be read.
    private static func sources(
        flags: [String: String], file: String?, environment: [String: String], reading: inout SettingsReading
    ) -> [Source] {
        let variables = variables(in: environment, warnings: &reading.settings.warnings)
        var sources = [
            Source(provider: provider(of: flags), origin: { _ in .flag }),
            Source(
                provider: provider(of: variables.mapValues(\.text)),
                origin: { .environment(variables[$0.name]?.name ?? $0.environmentName) }),
        ]

        let variable = environment[fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        guard let path = file ?? variable else { return sources }
        do throws(SettingsError) {
            let file = try SettingsFile(path: path)
            reading.mistakes.append(contentsOf: file.unknownNames)
            sources.append(
                Source(
                    provider: provider(of: file.entries.mapValues(\.text)),
                    origin: { .file(path, line: file.entries[$0.name]?.line ?? 1) }))
        } catch {
            reading.mistakes.append(error)
            reading.lacksFile = true
        }
        return sources
    }

    /// Returns the environment variable that applies to each setting, with its value.
    ///
    /// A variable that is shared with other programs does not stop this one: an invalid value is ignored with a
    /// warning. An empty variable counts as not set.
    private static func variables(
        in environment: [String: String], warnings: inout [String]
    ) -> [String: (name: String, text: String)] {
        var found: [String: (name: String, text: String)] = [:]
        for setting in Setting.accepted {
            let isShared = { SharedVariables.names[setting.name]?.contains($0) ?? false }
            for name in SharedVariables.all(of: setting) where found[setting.name] == nil {
                do throws(SettingsError) {
                    guard let text = try SharedVariables.value(of: name, in: environment),
                        !text.allSatisfy(\.isWhitespace) || !(isShared(name) || setting.mayBeEmpty)
                    else { continue }
                    if isShared(name) { _ = try setting.checked(text, from: .environment(name)) }
                    found[setting.name] = (name, text)
                } catch {
                    warnings.append("\(error); \(name) is ignored")
                }
            }
        }
        return found
    }

    /// Returns the value from the first source that contains the setting; `nil` if none does.
    ///
    /// An empty value is rejected, because the default would then apply unnoticed: a local broker, no limit on paid
    /// calls, no encryption. The exceptions are variables of texts without a default (`variables`), since containers
    /// often pass on unset variables as empty ones.
    private static func value(of setting: Setting, in sources: [Source]) throws(SettingsError) -> Value? {
        for source in sources {
            guard let text = source.text(of: setting) else { continue }
            let origin = source.origin(setting)

            if text.allSatisfy(\.isWhitespace) { throw SettingsError.empty(setting, at: origin) }
            return Value(text: try setting.checked(text, from: origin), origin: origin)
        }
        return nil
    }

    static let fileVariable = "LOCSEARCH_CONFIG"

    private static func provider(of values: [String: String]) -> any ConfigProvider {
        InMemoryProvider(
            values: Dictionary(
                values.map { (key($0.key), ConfigValue(.string($0.value), isSecret: true)) },
                uniquingKeysWith: { first, _ in first }))
    }

    private static func key(_ name: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(name.split(separator: ".").map(String.init))
    }

    /// Finds variables whose names are one or two typing errors away from a known one. Other unknown names belong to
    /// other programs. An example is `KAFKA_PORT`, which Kubernetes sets for a service named kafka.
    private static func misspelt(_ environment: [String: String]) -> [String] {
        let ours = Setting.accepted.flatMap(SharedVariables.all) + [fileVariable]
        let known = Set(ours)

        // Only names with a known first letter are compared, because an environment can contain hundreds of variables.
        let first = Set(ours.compactMap(\.first))
        return environment.keys.sorted().compactMap { name in
            guard !known.contains(name), let letter = name.first, first.contains(letter), name.contains("_"),
                let meant = Misspelling.meant(by: name, among: ours)
            else { return nil }
            return "the environment variable \(name) is not a setting: did you mean \(meant)?"
        }
    }

    // MARK: - Access

    subscript(_ name: String) -> String? { values[name]?.text }

    func text(_ name: String) -> String { self[name] ?? "" }

    /// Returns the value of an integer setting that has a default.
    func integer(_ name: String) -> Int { self[name].flatMap { Int($0) } ?? 0 }

    func flag(_ name: String) -> Bool { self[name] == "true" }

    /// Returns `nil` if the setting is `off` or not set.
    func duration(_ name: String) -> Duration? { self[name].flatMap { Duration(text: $0) } }

    /// Returns `nil` if the setting is not set.
    func number(_ name: String) -> Double? { self[name].flatMap { Double($0) } }

    /// Returns `nil` if the setting is not set.
    func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        self[name].flatMap { Choice(rawValue: $0) }
    }

    /// Returns the name of a setting, with the source of its value.
    func place(of name: String) -> String {
        values[name].map { "\(name) (\($0.origin))" } ?? name
    }

    func isDefault(_ name: String) -> Bool { values[name]?.origin == .default }

    /// Returns a secret, from its setting or from the file that another setting names. The file is read again with each
    /// call.
    /// - Throws: `SettingsError` if both are set, or if the file cannot be used.
    func secret(_ name: String, orFile fileSetting: String) throws(SettingsError) -> String? {
        guard let path = self[fileSetting] else { return self[name] }
        guard self[name] == nil else {
            throw SettingsError("\(place(of: name)) and \(place(of: fileSetting)) are both set: use one of them")
        }

        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingsError("\(fileSetting): \(path) cannot be read")
        }
        guard data.count <= 65_536, let text = String(data: data, encoding: .utf8) else {
            throw SettingsError("\(fileSetting): \(path) is not a text file of at most 64 KB")
        }

        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else { throw SettingsError("\(fileSetting): \(path) is empty") }
        guard !secret.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw SettingsError("\(fileSetting): \(path) holds more than one line")
        }
        return secret
    }
}

extension Setting {
    /// Returns the value of a setting that no source contains: that of its `fallback`, if that is set, or its default.
    fileprivate func inherited(from values: [String: Settings.Value]) -> Settings.Value {
        if let fallback, let value = values[fallback], value.text != nil, value.origin != .default { return value }
        return Settings.Value(text: defaultValue, origin: .default)
    }
}

extension SettingsError {
    static func empty(_ setting: Setting, at origin: SettingOrigin) -> SettingsError {
        let remedy =
            setting.defaultValue.map { "leave it out for its default, \($0)" } ?? "leave it out to keep it unset"
        return SettingsError("\(setting.name) is empty (\(origin)): expected \(setting.expectation), or \(remedy)")
    }
}
