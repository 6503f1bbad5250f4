import ArgumentParser
import Logging

struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Runs a worker until SIGTERM.",
        discussion: """
            Settings are read from flags, then the environment, a file and defaults: `locsearch config` shows them.

              HOTPEPPER_API_KEY=... locsearch worker --kafka-bootstrap-servers broker:9092
              locsearch worker --config worker.yaml --worker-concurrency 64 --admin-port 0

            At SIGTERM, SIGINT or SIGHUP, requests in flight finish (worker.shutdownGrace); a second SIGTERM or SIGINT
            exits at once. Requests for a provider without a key end as unauthorized. At least one provider must have a
            key.

            The setting worker.maxRequestBytes is --worker-max-request-bytes or WORKER_MAX_REQUEST_BYTES, and so on:

            \(Setting.helpTable)
            """)

    @Flag(help: .hidden) var endsWithInput = false
    @OptionGroup var options: SettingsOptions

    func run() async throws {
        if endsWithInput { exitAtEndOfInput() }
        ignoreBrokenPipes()
        let (settings, warnings) = try await checkedSettings()
        let log = try ProcessSetup.logger(settings)
        for warning in warnings {
            log.warning(
                "a check at the start has a warning",
                metadata: ["check": "\(warning.check)", "reason": "\(warning.sentence)"])
        }
        try await WorkerService(settings, registry: ProcessSetup.metrics(), log: log).run()
    }

    /// Runs the checks of `locsearch doctor` that need no network and do not wait.
    /// - Throws: `Failure` with a line for each problem that prevents a worker from starting.
    private func checkedSettings() async throws -> (Settings, warnings: [Finding]) {
        let reading = try options.read()
        ProcessSetup.hideReadableSecrets(of: reading.settings)
        let quiet = Logger(label: "locsearch") { _ in SwiftLogNoOpLogHandler() }
        let examination = Examination(reading, asks: nil, timeout: .seconds(1), log: quiet)
        let report = await DoctorChecks.report(of: DoctorChecks.ofStart, in: examination)
        if let failure = report.failure { throw failure }
        // The warnings of the other checks concern only who reads the report of doctor.
        let logged = [FilesCheck.name, LibraryCheck.name]
        return (reading.settings, report.findings.filter { $0.state == .warning && logged.contains($0.check) })
    }
}
