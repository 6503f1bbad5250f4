import ArgumentParser
import Logging
import Observability

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks everything that a worker needs, and suggests fixes.",
        discussion: """
            Prints one line per finding: ok, warning (works, but can be improved), FAILED, unknown (cannot be
            determined) or skipped, then the check, the finding and the fix. It uses the same flags, environment and
            file as the worker, and checks settings, library, admin port and open files; connections, versions and
            addresses of the brokers; topics, rights and the group; providers, keys, quotas, budgets and the clock. It does not join the
            group, and changes nothing.

              locsearch doctor                    # checks a running demo if no broker is set
              locsearch doctor --config worker.yaml --json
              locsearch doctor --offline          # contacts brokers, but no provider
              locsearch doctor --yes --strict     # for CI

            The command tests keys with the cheapest call of each provider, which is free of charge. At a terminal it
            asks for confirmation; elsewhere it tests them only with --yes.

            Exit codes: 0 no check fails; otherwise that of the first failure: 78 a wrong setting, 69 a broker or
            provider is unreachable, 1 anything else, or a warning with --strict. 64 is wrong usage.
            """)

    @Flag(help: "Prints one JSON object.") var json = false
    @Flag(help: "Contacts no provider.") var offline = false
    @Flag(name: .shortAndLong, help: "Tests keys without asking for confirmation.") var yes = false
    @Flag(help: "Exits with 1 if there are warnings.") var strict = false
    @Option(help: "Timeout of each query, up to 1m.", transform: DurationArgument.read) var timeout =
        DurationArgument(.seconds(5))
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func validate() throws {
        try timeout.require(.milliseconds(100) ... .seconds(60), "--timeout")
        if offline, yes { throw ValidationError("--offline and --yes exclude each other") }
    }

    func run() async throws {
        ignoreBrokenPipes()
        var reading = try options.read()
        if let demo = ToolSettings.demo(for: reading.settings) {
            reading = try options.read(defaults: demo.workerSettings)
        }
        ProcessSetup.hideReadableSecrets(of: reading.settings)
        let log = Logger(label: "locsearch") { LineLogHandler(label: $0, format: .text, level: .critical) }
        let examination = Examination(
            reading, asks: offline ? nil : isAllowed, timeout: timeout.duration, log: log)
        let report = await DoctorChecks.report(of: DoctorChecks.all, in: examination) { finding in
            if !json { Terminal.line(DoctorReport.line(finding)) }
        }

        let code = report.exitCode(isStrict: strict)
        Terminal.line(json ? report.json(exitCode: code) : report.summary)
        if code != 0 { throw ExitCode(code) }
    }

    /// Asks the user at a terminal. Without a terminal, only `--yes` gives permission.
    private var isAllowed: @Sendable (_ question: String) -> Bool {
        { [yes] question in
            if yes { return true }
            return Terminal.inputIsTerminal && Terminal.confirms(question)
        }
    }
}
