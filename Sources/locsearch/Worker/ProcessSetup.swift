import Kafka
import Logging
import Metrics
import Observability
import UnixSignals

internal import CMimalloc

#if os(Linux)
    internal import CLinux
#endif

/// The things that every command that runs for long sets up once: logs, metrics, secrets to hide.
enum ProcessSetup {
    static func logger(_ settings: Settings) throws -> Logger {
        try hideSecrets(of: settings)
        let level = Logger.Level(rawValue: settings.text("log.level")) ?? .info
        let format = LineLogHandler.Format(rawValue: settings.text("log.format")) ?? .json
        return Logger(label: "locsearch") { LineLogHandler(label: $0, format: format, level: level) }
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
        let security = try settings.security()
        let secrets = [
            try settings.googleKey(), try settings.hotpepperKey(), security.saslPassword, security.oidc?.clientSecret,
            try settings.adminToken(), try settings.consoleToken(),
        ]
        for case let secret? in secrets { SecretRegistry.shared.add(secret) }
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

    /// Returns at the first SIGTERM or SIGINT; from then on the next one ends the process at once.
    static func onFirstTermination() async { await trapTermination()() }

    /// Traps SIGTERM and SIGINT: when this returns, they no longer end the process.
    /// - Returns: what waits for the first of them. From then on the next one ends the process at once.
    static func trapTermination() async -> @Sendable () async -> Void {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let (first, coming) = AsyncStream.makeStream(of: Never.self)
        Task {
            var isFirst = true
            for await _ in signals {
                if isFirst { coming.finish() } else { exitNow(1) }
                isFirst = false
            }
        }
        return { for await _ in first {} }
    }

    /// Calls `first` at the first SIGTERM or SIGINT; the second ends the process at once.
    static func onTermination(_ first: @escaping @Sendable () async -> Void) async {
        var count = 0
        for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
            count += 1
            if count > 1 { exitNow(1) }
            // Not waited for here: the second signal must be noticed meanwhile.
            Task { await first() }
        }
    }
}
