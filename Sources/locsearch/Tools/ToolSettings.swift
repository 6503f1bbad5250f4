import Logging
import Observability

/// What `search` and `watch` set up: settings, the demo's broker when nothing else is configured, quiet logs.
enum ToolSettings {
    static func load(_ options: SettingsOptions) async throws -> (settings: Settings, log: Logger) {
        var settings = try options.load()
        if settings.isDefault("kafka.bootstrapServers"), let demo = DemoState.running() {
            settings = try options.load(defaults: ["kafka.bootstrapServers": demo.bootstrapServers])
            Terminal.note("using the demo's broker at \(demo.bootstrapServers)")
        }
        try ProcessSetup.hideSecrets(of: settings)
        // A tool's own output is its result: Kafka's notices only matter when somebody asks for them.
        let asked = !settings.isDefault("log.level")
        let level: Logger.Level = asked ? Logger.Level(rawValue: settings.text("log.level")) ?? .error : .error
        let log = Logger(label: "locsearch") { LineLogHandler(label: $0, format: .text, level: level) }
        return (settings, log)
    }
}
