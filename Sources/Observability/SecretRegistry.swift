import Basics
import Synchronization

/// Texts that must never be written, whoever lets one slip: the last line of defence. Thread-safe.
package final class SecretRegistry: Sendable {
    package static let shared = SecretRegistry()
    /// Longest first, so that a secret that holds another goes as a whole.
    private let secrets = Mutex<[String]>([])

    package init() {}

    /// - Parameter secret: shorter ones than 4 characters would hide half of every line and are left out.
    package func add(_ secret: String) {
        guard secret.count >= 4 else { return }
        secrets.withLock { secrets in
            guard !secrets.contains(secret) else { return }
            secrets.append(secret)
            secrets.sort { $0.count > $1.count }
        }
    }

    /// The text with every secret in it replaced, as it stands and as a URL spells it.
    package func redacted(_ text: String) -> String {
        let secrets = secrets.withLock { $0 }
        var text = text
        for secret in secrets {
            for form in [secret, PercentEncoding.encoded(secret)] where text.contains(form) {
                text = text.replacing(form, with: "***")
            }
        }
        return text
    }
}
