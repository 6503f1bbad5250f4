import Logging
import Observability
import Synchronization

/// Reads the files that hold secrets again and again, and has a new content used without a restart.
///
/// A file may be written anew, replaced, or be a link that is pointed elsewhere, as Kubernetes does with the files of a
/// Secret: only its content counts. A file that cannot be used, because it is missing or half written, changes nothing;
/// one warning says so until it can be used again.
final class SecretFiles: Sendable {
    /// One secret that stands in a file.
    struct Entry: Sendable {
        let setting: String
        /// The secret in use.
        let current: String
        let read: @Sendable () throws(SettingsError) -> String?
        /// Has the new secret used from now on.
        let use: @Sendable (String) async -> Void
    }

    private struct State {
        var secrets: [String]
        var problems: [String?]
    }

    /// The longest time from a file's change to the first use of its new content.
    static let interval = Duration.seconds(1)

    private let entries: [Entry]
    private let state: Mutex<State>
    private let log: Logger

    init(_ entries: [Entry], log: Logger) {
        self.entries = entries
        state = Mutex(State(secrets: entries.map(\.current), problems: entries.map { _ in nil }))
        self.log = log
    }

    /// Looks at the files once a second until its task is cancelled.
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

            // Hidden before it is used, and the old one stays hidden.
            SecretRegistry.shared.add(secret)
            await entry.use(secret)
            state.withLock { $0.secrets[index] = secret }
            log.info("a secret was read anew from its file", metadata: ["setting": "\(entry.setting)"])
        } catch {
            let isNews = state.withLock { state in
                defer { state.problems[index] = error.description }
                return state.problems[index] != error.description
            }
            guard isNews else { return }
            log.warning(
                "a secret cannot be read anew; the last one stays in use", metadata: ["reason": "\(error.description)"])
        }
    }
}
