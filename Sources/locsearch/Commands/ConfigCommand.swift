import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Prints the settings in force and where each came from; secrets are hidden.")

    @OptionGroup var options: SettingsOptions

    @Flag(name: .long, help: "Prints the README's table of all settings instead.")
    var table = false

    func run() async throws {
        if table {
            print(Setting.markdownTable, terminator: "")
            return
        }
        let settings = try await options.load()
        let width = Setting.all.map(\.name.count).max() ?? 0
        for setting in Setting.all {
            guard let value = settings.values[setting.name] else { continue }
            let shown = value.text.map { setting.isSecret ? "(hidden)" : $0 } ?? "-"
            let name = setting.name + String(repeating: " ", count: width - setting.name.count)
            print("\(name)  \(shown)  [\(value.origin)]")
        }
    }
}

extension Setting {
    /// For the README: kept equal by a test.
    static var markdownTable: String {
        var text = "| setting | environment | default | what it does |\n| --- | --- | --- | --- |\n"
        for setting in all {
            let value = setting.defaultValue.map { "`\($0)`" } ?? ""
            text +=
                "| `\(setting.name)` | `\(setting.environmentName)` | \(value) | \(setting.help); \(setting.expectation) |\n"
        }
        return text
    }
}
