import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Prints the settings in force and where each came from; secrets are hidden.",
        discussion: """
            Takes the same flags, environment and file as the worker, and refuses the same mistakes (exit code 78):

              locsearch config
              locsearch config --config worker.yaml --worker-concurrency 64
              WORKER_DEADLINE=2s locsearch config | grep deadline
            """)

    @OptionGroup var options: SettingsOptions

    @Flag(name: .long, help: "Prints a table of all settings in Markdown instead.")
    var table = false

    func run() async throws {
        if table { return print(Setting.markdownTable, terminator: "") }
        let settings = try options.load()
        try settings.validate()
        var text = TextTable([.init(title: "setting"), .init(title: "value", maxWidth: 80), .init(title: "from")])
        for setting in Setting.all {
            guard let value = settings.values[setting.name] else { continue }
            text.add([
                setting.name, value.text.map(setting.shown) ?? "-", value.origin.description,
            ])
        }
        for line in text.lines { print(line) }
    }
}

extension Setting {
    /// The table in `docs/settings.md`: `make docs` writes it there, and a test compares the two.
    static var markdownTable: String {
        var text = "| setting | environment | default | what it does |\n|---|---|---|---|\n"
        for setting in all {
            let value = setting.defaultValue.map { "`\($0)`" } ?? ""
            text +=
                "| `\(setting.name)` | `\(setting.environmentName)` | \(value) | \(setting.help) (\(setting.expectation)) |\n"
        }
        return text
    }

    /// For `locsearch worker --help`, which breaks lines at 80 columns.
    static var helpTable: String {
        all.map { setting in
            let value = setting.defaultValue.map { " = \($0)" } ?? ""
            return "  \(setting.name)\(value)\n      \(setting.help)"
        }.joined(separator: "\n")
    }
}
