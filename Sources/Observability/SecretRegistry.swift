import Synchronization

/// Texts that must never be written, whoever lets one slip: the last line of defence. Thread-safe.
package final class SecretRegistry: Sendable {
    package static let shared = SecretRegistry()
    private let secrets = Mutex<[String]>([])

    /// - Parameter secret: shorter ones than 4 characters would hide half of every line and are left out.
    package func add(_ secret: String) {
        guard secret.count >= 4 else { return }
        secrets.withLock { if !$0.contains(secret) { $0.append(secret) } }
    }

    package func redacted(_ text: String) -> String {
        let secrets = secrets.withLock { $0 }
        var text = text
        for secret in secrets where text.contains(secret) { text = text.replacing(secret, with: "***") }
        return text
    }
}
