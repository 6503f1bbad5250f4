/// Reports all mistakes in the settings at once, including those that affect only a worker.
struct SettingsCheck: DoctorCheck {
    static let name = "settings"

    func findings(_ examination: inout Examination) async -> [Finding] {
        let mistakes = examination.reading.allMistakes(SettingsRule.ofWorker).flatMap(\.mistakes)
        guard mistakes.isEmpty else { return mistakes.map { failed($0, code: Failure.configuration) } }

        let settings = examination.settings
        let count = Setting.accepted.count { !settings.isDefault($0.name) && settings[$0.name] != nil }
        var findings = [ok("\(count) of \(Setting.accepted.count) settings are set, and all of them fit")]
        findings += settings.warnings.map { warning($0, cure: "unset the variable, or correct it") }
        if settings.flag("worker.allowNoProvider"), (try? settings.configuredProviders())?.isEmpty == true {
            findings.append(
                warning(
                    "requests end as unauthorized, because no provider has a key and worker.allowNoProvider is true",
                    cure: "set hotpepper.apiKeyFile or googlePlaces.apiKeyFile"))
        }
        return findings
    }
}
