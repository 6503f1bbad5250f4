import ArgumentParser
import Observability

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Prints the effective settings and the source of each; secrets are hidden.",
        discussion: """
            Uses the same flags, environment and file as the worker, and rejects invalid settings (exit code 78). It
            does not check what only a worker needs, such as a provider's key: see `locsearch doctor`.

              locsearch config
              locsearch config --config worker.yaml --worker-concurrency 64
              WORKER_DEADLINE=2s locsearch config | grep deadline
              locsearch config --json | jq '.[] | select(.source != "default")'

            --json prints one array with an object for each setting: name, environment (the variable that sets it),
            value (left out if nothing is set), hidden (true if a secret is left out, or replaced by "(hidden)" in the
            value), and source, which is command-line, environment (with the variable), file (with the path and the
            line) or default.
            """)

    @OptionGroup var options: SettingsOptions

    @Flag(name: .long, help: "Prints the settings as a JSON array.")
    var json = false

    @Flag(name: .long, help: "Prints tables of all settings in Markdown instead.")
    var table = false

    @Flag(name: .long, help: "Prints tables of all metrics in Markdown instead.")
    var metrics = false

    func validate() throws {
        if [json, table, metrics].count(where: \.self) > 1 {
            throw ValidationError("--json, --table and --metrics exclude each other")
        }
    }

    func run() async throws {
        if table { return Terminal.write(Setting.markdownTables) }
        if metrics { return Terminal.write(MetricDescription.markdownTables) }

        let settings = try options.read().checked()
        settings.warnings.forEach(Terminal.note)
        Terminal.line(json ? settings.json : settings.table)
    }
}

extension Setting {
    /// The tables in `docs/settings.md`. `make docs` writes them there, and a test compares the two.
    static var markdownTables: String {
        subjects.map { subject in
            "### \(subject.title)\n\n| setting | environment | default | what it does |\n|---|---|---|---|\n"
                + subject.settings.map(\.markdownRow).joined()
        }.joined(separator: "\n")
    }

    private var markdownRow: String {
        let value = defaultValue.map { "`\($0)`" } ?? ""
        return "| `\(name)` | `\(environmentName)` | \(value) | \(help)\(values.map { " (\($0))" } ?? "") |\n"
    }

    /// The valid values, for the table; `nil` if the name or the default shows them.
    private var values: String? {
        switch kind {
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "\(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
        case .duration(let range, let canBeOff):
            "\(range.lowerBound.text) to \(range.upperBound.text)" + (canBeOff ? ", or off" : "")
        case .choice(let values), .list(let values): values.joined(separator: ", ")
        case .text, .topic, .flag, .url, .timeZone, .addresses, .urls, .hosts: nil
        default: expectation
        }
    }

    /// The settings as `locsearch worker --help` lists them. ArgumentParser breaks the lines at 80 columns.
    static var helpTable: String {
        all.map { setting in
            let value = setting.defaultValue.map { " = \($0)" } ?? ""
            return "  \(setting.name)\(value)\n      \(setting.help)"
        }.joined(separator: "\n")
    }
}
