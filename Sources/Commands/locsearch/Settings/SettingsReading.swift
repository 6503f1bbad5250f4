/// The settings as they could be read, and all that is wrong with them.
struct SettingsReading: Sendable {
    /// A setting that is wrong has its default here, so that others can be looked at all the same.
    var settings = Settings()
    /// Names that are no settings, values that do not fit, and why the file cannot be read.
    var mistakes: [SettingsError]
    /// The settings whose values do not fit.
    var wrong: Set<String> = []
    /// True when there is a settings file that cannot be read: any setting may stand there.
    var lacksFile = false

    /// - Throws: what could not be read. The rules among settings are not looked at: see `checked`.
    func loaded() throws(SettingsError) -> Settings {
        guard mistakes.isEmpty else { throw SettingsError(all: mistakes) }
        return settings
    }

    /// - Throws: all that is wrong, broken rules included.
    func checked(_ rules: [SettingsRule] = SettingsRule.all) throws(SettingsError) -> Settings {
        let all = allMistakes(rules)
        guard all.isEmpty else { throw SettingsError(all: all) }
        return settings
    }

    /// Returns all that is wrong. A rule about a setting that could not be read is left out: it would tell of a value that
    /// nobody has set.
    func allMistakes(_ rules: [SettingsRule] = SettingsRule.all) -> [SettingsError] {
        mistakes + rules.filter { !concerns($0.settings) }.compactMap { $0.mistake(in: settings) }
    }

    /// Returns true when one of the settings could not be read.
    /// - Parameter names: settings, or groups of them, which end with a dot.
    func concerns(_ names: [String]) -> Bool {
        lacksFile
            || wrong.contains { wrong in names.contains { $0.hasSuffix(".") ? wrong.hasPrefix($0) : wrong == $0 } }
    }
}
