import Kafka
import Logging
import Observability

/// The set-up of commands that communicate with running workers, such as `search` and `watch`.
enum ToolSettings {
    /// Returns the settings and a quiet log. If no broker is set and a demo is running, its broker is used.
    static func load(_ options: SettingsOptions) async throws -> (settings: Settings, log: Logger) {
        var settings = try options.load()
        if let demo = demo(for: settings) { settings = try options.load(defaults: demo.settings) }
        try settings.requireSeparateTopics()
        try ProcessSetup.hideSecrets(of: settings)
        settings.warnings.forEach(Terminal.note)

        // The output of a tool is its result, so Kafka's notices are logged only on request.
        let isAsked = !settings.isDefault("log.level")
        let level: Logger.Level = isAsked ? Logger.Level(rawValue: settings.text("log.level")) ?? .error : .error
        let log = Logger(label: "locsearch") { LineLogHandler(label: $0, format: .text, level: level) }
        return (settings, log)
    }

    /// Returns the running demo if no broker is set, and prints that it is used; `nil` if there is none.
    static func demo(for settings: Settings) -> DemoState? {
        guard settings.isDefault("kafka.bootstrapServers") else { return nil }
        let demos = DemoState.running()
        guard let demo = demos.first else { return nil }
        Terminal.note("using the \(note(on: demo, others: demos.dropFirst()))")
        return demo
    }

    /// Describes which demo is used, and how to reach the others.
    private static func note(on demo: DemoState, others: ArraySlice<DemoState>) -> String {
        let used = "demo's broker at \(demo.bootstrapServers)"
        if others.isEmpty { return used }

        let addresses = others.map(\.bootstrapServers).joined(separator: ", ")
        return "newest \(used); for another demo, set --kafka-bootstrap-servers: \(addresses)"
    }
}

extension ConsumerConfiguration {
    /// A copy for interactive commands. It reconnects to a broker within one second instead of ten, and prefetches at
    /// most 8 MB instead of 64 MB. `kafka.properties` overrides both.
    var reconnectingSoon: ConsumerConfiguration {
        var configuration = self
        let ours = ["reconnect.backoff.max.ms": "1000", "queued.max.messages.kbytes": "8192"]
        configuration.properties.merge(ours) { theirs, _ in theirs }
        return configuration
    }
}
