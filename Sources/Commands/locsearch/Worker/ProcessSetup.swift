import Kafka
import Logging
import Metrics
import Observability
import UnixSignals
internal import CLinux
internal import CMimalloc

/// The one-time set-up of long-running commands: logs, metrics, and the secrets to hide.
enum ProcessSetup {
    static func logger(_ settings: Settings) throws -> Logger {
        try hideSecrets(of: settings)
        let level = Logger.Level(rawValue: settings.text("log.level")) ?? .info
        let format = LineLogHandler.Format(rawValue: settings.text("log.format")) ?? .json
        let log = Logger(label: "locsearch") { LineLogHandler(label: $0, format: format, level: level) }
        for warning in settings.warnings { log.warning("\(warning)") }
        return log
    }

    /// Masks all secrets that can be read in log lines, even if other settings are invalid.
    static func hideReadableSecrets(of settings: Settings) {
        for setting in Setting.read {
            guard let value = settings[setting.name] else { continue }
            for secret in setting.secrets(in: value) { SecretRegistry.shared.add(secret) }
        }
        for (name, file) in Setting.secretFiles {
            if let secret = try? settings.secret(name, orFile: file) { SecretRegistry.shared.add(secret) }
        }
    }

    /// Masks all secrets in log lines, whatever code writes them.
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

    /// Releases memory of program code that only the start needed: 16 MB of the 43 MB of an idle worker
    /// (`process_resident_memory_bytes`).
    static func giveBackStartUp() {
        // Safe: unmaps unmodified pages, which are loaded again when they are accessed.
        locsearch_give_back_code()
    }

    /// The memory allocator of this process: mimalloc with its version, or the system's, which a sanitizer may have
    /// replaced.
    ///
    /// The call to mimalloc also keeps it linked: some linkers drop a library without calls to it.
    static var allocator: String {
        guard locsearch_malloc_is_mimalloc() else { return "system" }
        let version = mi_version()
        return "mimalloc \(version / 100).\(version / 10 % 10).\(version % 10)"
    }

    static func onFirstTermination() async { await trapTermination()() }

    /// Traps SIGTERM, SIGINT and SIGHUP: after this returns, they no longer end the process. SIGINT and SIGHUP stay
    /// ignored if the process was started that way, as by `nohup` or in a script's background.
    /// - Returns: a function that waits for the first of these signals. A second SIGTERM or SIGINT ends the process at
    ///   once. A SIGHUP does not, because a closing terminal sends it twice, and systemd sends it right after SIGTERM.
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
}
