/// The settings that could be read, and all mistakes in them.
struct SettingsReading: Sendable {
    /// An invalid setting has its default value here, so that the other settings can still be checked.
    var settings = Settings()
    /// The unknown names, the invalid values, and why the file cannot be read.
    var mistakes: [SettingsError]
    /// The settings with invalid values.
    var wrong: Set<String> = []
    /// True if the settings file cannot be read. It may have set any setting.
    var lacksFile = false

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
}
