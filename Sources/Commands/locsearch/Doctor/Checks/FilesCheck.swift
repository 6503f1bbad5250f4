import LibC

/// Whether the system lets a worker have as many files and connections open as it may need.
struct FilesCheck: DoctorCheck {
    static let name = "files"

    /// What a worker has open beside connections to providers: the admin server's connections, librdkafka's for each client,
    /// and the program's own.
    private static let (perLoop, others) = (32, 128)

    /// The most files that the system allows this process; a worker raises its own limit to it.
    private let limit: Int

    init(limit: Int = FileDescriptors.hardLimit) { self.limit = limit }

    func findings(_ examination: inout Examination) async -> [Finding] {
        let settings = examination.settings
        // bounded: settings of at most 65,536 and 64
        let needed =
            settings.integer("worker.concurrency") + settings.integer("worker.loops") * Self.perLoop + Self.others
        guard limit < needed else { return [ok("\(limit) open files are allowed, and up to \(needed) are needed")] }

        return [
            warning(
                "\(limit) open files are allowed, and with worker.concurrency=\(settings.integer("worker.concurrency"))"
                    + " up to \(needed) are needed",
                cure: "raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd), or lower worker.concurrency")
        ]
    }
}
