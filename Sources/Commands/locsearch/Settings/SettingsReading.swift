import Foundation

/// Reads the settings from all sources. Flags override the environment, which overrides the file, which overrides
/// defaults.
struct SettingsReading: Sendable {
    /// The settings that could be read. An invalid setting has its default value here, so that the other settings can
    /// still be checked.
    private(set) var settings = Settings()
    /// The unknown names, the invalid values, and why the file cannot be read.
    private(set) var mistakes: [SettingsError] = []
    /// The settings with invalid values.
    private var wrong: Set<String> = []
    /// True if the settings file cannot be read. It may have set any setting.
    private var lacksFile = false

    static let fileVariable = "LOCSEARCH_CONFIG"

    /// Reads everything that can be read, and records the mistakes.
    /// - Parameter flags: the settings from the command line, by name.
    /// - Parameter file: the path from `--config`; `nil` uses `LOCSEARCH_CONFIG` if that is set.
    /// - Parameter environment: the environment variables.
    init(flags: [String: String], file: String?, environment: [String: String]) {
        settings.warnings = Self.misspelt(environment)
        let sources = sources(flags: flags, file: file, environment: environment)

        for setting in Setting.read {
            do throws(SettingsError) {
                settings.values[setting.name] =
                    try Self.value(of: setting, in: sources) ?? setting.inherited(from: settings.values)
            } catch {
                settings.values[setting.name] = Settings.Value(text: setting.defaultValue, origin: .default)
                wrong.insert(setting.name)
                mistakes.append(error)
            }
        }
        if environment["OTEL_SDK_DISABLED"]?.lowercased() == "true" {
            settings.values["tracing.endpoint"] = Settings.Value(
                text: "off", origin: .environment("OTEL_SDK_DISABLED"))
        }
        let sampler = "OTEL_TRACES_SAMPLER"
        settings.ignoresTraceParents =
            settings.values["tracing.sampleRatio"]?.origin == .environment(sampler)
            && environment[sampler]?.lowercased().hasPrefix("parentbased_") == false
    }

    // MARK: - Checks

    /// - Throws: the mistakes found while reading. Rules between settings are not checked: see `checked`.
    func loaded() throws(SettingsError) -> Settings {
        guard mistakes.isEmpty else { throw SettingsError(all: mistakes) }
        return settings
    }

    /// - Throws: all mistakes, including broken rules.
    func checked(_ rules: [SettingsRule] = SettingsRule.all) throws(SettingsError) -> Settings {
        let all = allMistakes(rules)
        guard all.isEmpty else { throw SettingsError(all: all) }
        return settings
    }

    /// Returns all mistakes. Rules about a setting that could not be read are skipped, because they would report its
    /// default value.
    func allMistakes(_ rules: [SettingsRule] = SettingsRule.all) -> [SettingsError] {
        mistakes + rules.filter { !concerns($0.settings) }.compactMap { $0.mistake(in: settings) }
    }

    /// Returns true if one of the settings could not be read.
    /// - Parameter names: settings, or prefixes of settings, which end with a dot.
    func concerns(_ names: [String]) -> Bool {
        lacksFile
            || wrong.contains { wrong in names.contains { $0.hasSuffix(".") ? wrong.hasPrefix($0) : wrong == $0 } }
    }

    // MARK: - Sources

    /// The texts of settings by name, which may be empty, and where each comes from.
    private typealias Source = (values: [String: String], origin: (Setting) -> SettingOrigin)

    /// Returns the sources in order of precedence. Records the unknown names in the file, or why it cannot be read.
    private mutating func sources(flags: [String: String], file: String?, environment: [String: String]) -> [Source] {
        let variables = variables(in: environment)
        var sources: [Source] = [
            (flags, { _ in .flag }),
            (variables.mapValues(\.text), { .environment(variables[$0.name]?.name ?? $0.environmentName) }),
        ]

        let variable = environment[Self.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        guard let path = file ?? variable else { return sources }
        do throws(SettingsError) {
            let file = try SettingsFile(path: path)
            mistakes.append(contentsOf: file.unknownNames)
            sources.append(
                (file.entries.mapValues(\.text), { .file(path, line: file.entries[$0.name]?.line ?? 1) }))
        } catch {
            mistakes.append(error)
            lacksFile = true
        }
        return sources
    }

    /// Returns the environment variable that applies to each setting, with its value.
    ///
    /// A variable that is shared with other programs does not stop this one: an invalid value is ignored with a
    /// warning. An empty variable counts as not set.
    private mutating func variables(in environment: [String: String]) -> [String: (name: String, text: String)] {
        var found: [String: (name: String, text: String)] = [:]
        for setting in Setting.read {
            let isShared = { SharedVariables.names[setting.name]?.contains($0) ?? false }
            for name in SharedVariables.all(of: setting) where found[setting.name] == nil {
                do throws(SettingsError) {
                    guard let text = try SharedVariables.value(of: name, in: environment),
                        !text.allSatisfy(\.isWhitespace) || !(isShared(name) || setting.mayBeEmpty)
                    else { continue }
                    if isShared(name) { _ = try setting.checked(text, from: .environment(name)) }
                    found[setting.name] = (name, text)
                } catch {
                    settings.warnings.append("\(error); \(name) is ignored")
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
    private static func value(of setting: Setting, in sources: [Source]) throws(SettingsError) -> Settings.Value? {
        for source in sources {
            guard let text = source.values[setting.name] else { continue }
            let origin = source.origin(setting)

            if text.allSatisfy(\.isWhitespace) { throw SettingsError.empty(setting, at: origin) }
            return Settings.Value(text: try setting.checked(text, from: origin), origin: origin)
        }
        return nil
    }

    /// Finds variables whose names are one or two typing errors away from a known one. Other unknown names belong to
    /// other programs. An example is `KAFKA_PORT`, which Kubernetes sets for a service named kafka.
    private static func misspelt(_ environment: [String: String]) -> [String] {
        let ours = Setting.read.flatMap(SharedVariables.all) + [fileVariable]
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
}

extension Settings {
    /// - Throws: `SettingsError` with all unknown, empty and invalid settings. See `SettingsReading` for the parameters.
    static func load(
        flags: [String: String], file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SettingsError) -> Settings {
        try SettingsReading(flags: flags, file: file, environment: environment).loaded()
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
