import ArgumentParser
import Logging
import Observability

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks at everything that a worker needs, and says what to do where it is wrong.",
        discussion: """
            One line for each thing that was looked at: ok, warning (works, and could be better), FAILED, unknown (nobody
            tells) or skipped, then the check, what was found and what to do about it. It takes the same flags, environment
            and file as the worker, and looks at settings, library, admin port, open files and disk; at names, connections,
            protocol, login, versions and addresses of the brokers; at topics, rights and the group; at providers, keys and
            clocks. It joins no group, and writes and changes nothing.

              locsearch doctor                    # where no broker is set and a demo runs: of that demo
              locsearch doctor --config worker.yaml --json
              locsearch doctor --offline          # talks to brokers, and to no provider
              locsearch doctor --yes --strict     # for a pipeline

            Keys are tried with the cheapest call of each provider, which is free of charge. At a terminal the command asks
            first; elsewhere it does so with --yes only.

            Exit codes: 0 nothing fails; else that of the first failure: 78 a wrong setting, 69 somebody is not reached, 1
            anything else, or a warning with --strict. 64 is wrong usage.
            """)

    @Flag(help: "Prints one JSON object.") var json = false
    @Flag(help: "Talks to no provider.") var offline = false
    @Flag(name: .shortAndLong, help: "Tries keys without asking first.") var yes = false
    @Flag(help: "Ends with exit code 1 for a warning, too.") var strict = false
    @Option(help: "How long each question may take, up to 1m.", transform: DurationArgument.read) var timeout =
        DurationArgument(.seconds(5))
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func validate() throws {
        guard (.milliseconds(100) ... .seconds(60)).contains(timeout.duration) else {
            throw ValidationError("--timeout takes 100ms to 1m")
        }
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
            reading, calls: offline ? .none : .asking(isAllowed), timeout: timeout.duration, log: log)
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
