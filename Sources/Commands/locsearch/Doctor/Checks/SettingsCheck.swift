import LibC

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

/// Checks whether the limit on open files is high enough for a worker's files and connections.
struct FilesCheck: DoctorCheck {
    static let name = "files"

    /// The files that a worker opens in addition to provider connections: the admin server's connections, librdkafka's
    /// connections for each client, and the program's own files.
    private static let (perLoop, others) = (32, 128)
    /// With fewer files, a worker cannot start its servers and its Kafka clients.
    private static let fewest = 64

    /// The hard limit on open files. A worker raises its soft limit to this value.
    private let limit: Int

    init(limit: Int = FileDescriptors.hardLimit) { self.limit = limit }

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let settings = examination.settings
        // bounded: settings of at most 65,536 and 64
        let needed =
            settings.integer("worker.concurrency") + settings.integer("worker.loops") * Self.perLoop + Self.others
        guard limit < needed else { return [ok("the limit is \(limit) open files, and up to \(needed) are needed")] }

        let text =
            "the limit is \(limit) open files, but with worker.concurrency=\(settings.integer("worker.concurrency"))"
            + " up to \(needed) are needed"
        let cure = "raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd)"
        return limit < Self.fewest
            ? [failed(text, cure: cure)] : [warning(text, cure: cure + ", or lower worker.concurrency")]
    }
}
