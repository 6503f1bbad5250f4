import Kafka
import Logging
import Metrics
import Observability
import UnixSignals

internal import CLinux
internal import CMimalloc

/// The things that every command that runs for long sets up once: logs, metrics, secrets to hide.
enum ProcessSetup {
    static func logger(_ settings: Settings) throws -> Logger {
        try hideSecrets(of: settings)
        let level = Logger.Level(rawValue: settings.text("log.level")) ?? .info
        let format = LineLogHandler.Format(rawValue: settings.text("log.format")) ?? .json
        let log = Logger(label: "locsearch") { LineLogHandler(label: $0, format: format, level: level) }
        for warning in settings.warnings { log.warning("\(warning)") }
        return log
    }

    /// Has log lines show none of the secrets that can be read, where others are wrong.
    static func hideReadableSecrets(of settings: Settings) {
        for setting in Setting.all {
            guard let value = settings[setting.name] else { continue }
            for secret in setting.secrets(in: value) { SecretRegistry.shared.add(secret) }
        }
        for (name, file) in Setting.secretFiles {
            if let secret = try? settings.secret(name, orFile: file) { SecretRegistry.shared.add(secret) }
        }
    }

    /// Has log lines show none of them, whatever code lets one slip.
    static func hideSecrets(of settings: Settings) throws {
        hideReadableSecrets(of: settings)
        _ = try (settings.googleKey(), settings.hotpepperKey(), settings.adminToken(), settings.consoleToken())
        _ = try settings.security()
    }

    static func metrics() -> MetricsRegistry {
        let registry = MetricsRegistry()
        MetricsSystem.bootstrap(registry)
        return registry
    }

    /// Frees what only the start needed of the program's own code: 16 MB of the 43 that a worker without requests had
    /// (`process_resident_memory_bytes`).
    static func giveBackStartUp() {
        #if os(Linux)
            // Safe: unmaps pages that nothing has written to, and that come back when they are touched.
            locsearch_give_back_code()
        #endif
    }

    /// Whose `malloc` the process has: mimalloc's and its version, or the system's, which a sanitizer may have replaced.
    ///
    /// The program asks mimalloc something for another reason, too: some linkers leave out a library that is asked nothing.
    static var allocator: String {
        guard locsearch_malloc_is_mimalloc() else { return "system" }
        let version = mi_version()
        return "mimalloc \(version / 100).\(version / 10 % 10).\(version % 10)"
    }

    static func onFirstTermination() async { await trapTermination()() }

    /// Traps SIGTERM, SIGINT and SIGHUP: when this returns, they no longer end the process. SIGINT and SIGHUP stay ignored where
    /// the process was started so, as by `nohup` and for jobs in a script's background.
    /// - Returns: what waits for the first of them. Another SIGTERM or SIGINT than the first ends the process at once. SIGHUP
    ///   does not, because a terminal that closes sends it twice, and systemd sends it right after SIGTERM.
    static func trapTermination() async -> @Sendable () async -> Void {
        let signals = await UnixSignalsSequence(
            trapping: [.sigterm] + [.sigint, .sighup].filter { !locsearch_is_ignored($0.rawValue) })
        let (first, coming) = AsyncStream.makeStream(of: Never.self)
        Task {
            var isSecond = false
            for await signal in signals {
                coming.finish()
                if signal == .sighup { continue }
                if isSecond { exitNow(1) }
                isSecond = true
            }
        }
        return { for await _ in first {} }
    }

    /// Calls `first` at the first of the signals that `trapTermination` traps.
    static func onTermination(_ first: @escaping @Sendable () async -> Void) async {
        await onFirstTermination()
        if !Task.isCancelled { await first() }
    }
}
