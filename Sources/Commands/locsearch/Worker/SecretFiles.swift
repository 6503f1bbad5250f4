import Logging
import Observability
import Synchronization

/// Reads the files with secrets repeatedly, and applies new content without a restart.
///
/// Only the content of a file matters. The file may be rewritten, replaced, or be a link whose target changes, as in a
/// Kubernetes Secret. A file that is missing or half written changes nothing. One warning is logged until it is valid
/// again.
final class SecretFiles: Sendable {
    /// One secret that is stored in a file.
    struct Entry: Sendable {
        let setting: String
        /// The secret in use.
        let current: String
        let read: @Sendable () throws(SettingsError) -> String?
        /// Applies the new secret.
        let use: @Sendable (String) async -> Void
    }

    private struct State {
        var secrets: [String]
        var problems: [String?]
    }

    /// The maximum time between the change of a file and the use of its new content.
    static let interval = Duration.seconds(1)

    private let entries: [Entry]
    private let state: Mutex<State>
    private let log: Logger

    init(_ entries: [Entry], log: Logger) {
        self.entries = entries
        state = Mutex(State(secrets: entries.map(\.current), problems: entries.map { _ in nil }))
        self.log = log
    }

    /// Reads the files once a second until its task is cancelled.
    func run() async {
        guard !entries.isEmpty else { return }

        while (try? await Task.sleep(for: Self.interval)) != nil {
            for index in entries.indices { await look(at: index) }
        }
    }

    private func look(at index: Int) async {
        let entry = entries[index]
        do throws(SettingsError) {
            guard let secret = try entry.read() else { return }
            let isNew = state.withLock { state in
                state.problems[index] = nil
                return state.secrets[index] != secret
            }
            guard isNew else { return }

            // The new secret is masked before it is used, and the old one stays masked.
            SecretRegistry.shared.add(secret)
            await entry.use(secret)
            state.withLock { $0.secrets[index] = secret }
            log.info("a secret was reloaded from its file", metadata: ["setting": "\(entry.setting)"])
        } catch {
            let isNews = state.withLock { state in
                defer { state.problems[index] = error.description }
                return state.problems[index] != error.description
            }
            guard isNews else { return }
            log.warning(
                "a secret cannot be reloaded; the previous one stays in use",
                metadata: ["reason": "\(error.description)"])
        }
    }
}
