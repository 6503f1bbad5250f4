/// Reports all mistakes in the settings at once, including those that affect only a worker.
struct SettingsCheck: DoctorCheck {
    static let name = "settings"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let mistakes = examination.reading.allMistakes(SettingsRule.ofWorker).flatMap(\.mistakes)
        guard mistakes.isEmpty else { return mistakes.map { failed($0, code: Failure.configuration) } }

        let settings = examination.settings
        let count = Setting.accepted.count { !settings.isDefault($0.name) && settings[$0.name] != nil }
        let report = [ok("\(count) of \(Setting.accepted.count) settings are set, and all of them fit")]
        return report + settings.warnings.map { warning($0, cure: "unset the variable, or correct it") }
    }
}
