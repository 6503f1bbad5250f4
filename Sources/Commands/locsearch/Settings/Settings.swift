import Foundation

/// The settings in force, each with its source. Flags override the environment, which overrides the file, which
/// overrides defaults.
struct Settings: Sendable {
    struct Value: Sendable, Hashable {
        /// The value in the form that the program uses; `nil` if the setting is not set and has no default.
        let text: String?
        let origin: SettingOrigin
    }

    var values: [String: Value] = [:]
    /// The environment variables that are ignored, each with the reason. They never stop a command.
    var warnings: [String] = []
    /// Whether `tracing.sampleRatio` also applies to requests with a trace: see `TraceExportConfiguration.ignoresParent`.
    var ignoresTraceParents = false

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
            throw SettingsError("\(fileSetting): \(SettingsFile.problem(at: path) ?? "\(path) cannot be read")")
        }
        guard data.count <= 65_536, let text = String(data: data, encoding: .utf8) else {
            throw SettingsError("\(fileSetting): \(path) is not a text file of at most 64 KB")
        }

        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else { throw SettingsError("\(fileSetting): \(path) is empty") }
        guard !secret.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw SettingsError(
                "\(fileSetting): \(path) has a line feed or another control character within the secret: write it on one line"
            )
        }
        return secret
    }
}
