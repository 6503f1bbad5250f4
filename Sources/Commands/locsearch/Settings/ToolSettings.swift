import Logging
import Observability

/// The set-up of the commands that talk to workers from outside, such as `search` and `watch`.
enum ToolSettings {
    /// Returns the settings, with the broker of a running demo where no other is set, and a quiet log.
    static func load(_ options: SettingsOptions) async throws -> (settings: Settings, log: Logger) {
        var settings = try options.load()
        if let demo = demo(for: settings) { settings = try options.load(defaults: demo.settings) }
        try settings.requireSeparateTopics()
        try ProcessSetup.hideSecrets(of: settings)
        settings.warnings.forEach(Terminal.note)

        // A tool's own output is its result: Kafka's notices only matter when somebody asks for them.
        let isAsked = !settings.isDefault("log.level")
        let level: Logger.Level = isAsked ? Logger.Level(rawValue: settings.text("log.level")) ?? .error : .error
        let log = Logger(label: "locsearch") { LineLogHandler(label: $0, format: .text, level: level) }
        return (settings, log)
    }

    /// Returns the demo that runs, and says that it is meant, where no broker is named; `nil` where there is none.
    static func demo(for settings: Settings) -> DemoState? {
        guard settings.isDefault("kafka.bootstrapServers") else { return nil }
        let demos = DemoState.running()
        guard let demo = demos.first else { return nil }
        Terminal.note("using the \(note(on: demo, others: demos.dropFirst()))")
        return demo
    }

    /// Says which demo is used, and how to reach the others.
    private static func note(on demo: DemoState, others: ArraySlice<DemoState>) -> String {
        let used = "demo's broker at \(demo.bootstrapServers)"
        if others.isEmpty { return used }

        let addresses = others.map(\.bootstrapServers).joined(separator: ", ")
        return "newest \(used); for another demo give --kafka-bootstrap-servers: \(addresses)"
    }
}
