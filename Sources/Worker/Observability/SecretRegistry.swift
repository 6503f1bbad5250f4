import Basics
import Synchronization

/// Texts that must never appear in output: a last line of defence. Thread-safe.
package final class SecretRegistry: Sendable {
    package static let shared = SecretRegistry()
    /// Longest first, so that a secret that contains another one is replaced as a whole.
    private let secrets = Mutex<[String]>([])

    package init() {}

    /// - Parameter secret: ignored if shorter than 4 characters, because it would hide parts of many lines.
    package func add(_ secret: String) {
        guard secret.count >= 4 else { return }
        secrets.withLock { secrets in
            guard !secrets.contains(secret) else { return }
            secrets.append(secret)
            secrets.sort { $0.count > $1.count }
        }
    }

    /// Returns the text with every secret replaced, both in plain and in percent-encoded form.
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

    /// Returns the bytes with every secret overwritten, both in plain and in percent-encoded form. Lengths do not
    /// change, so that a format with byte counts stays valid.
    package func masked(_ bytes: [UInt8]) -> [UInt8] {
        let secrets = secrets.withLock { $0 }
        var bytes = bytes
        for form in Set(secrets.flatMap { [$0, PercentEncoding.encoded($0)] }) {
            let sought = Array(form.utf8)
            bytes.replace(sought, with: [UInt8](repeating: UInt8(ascii: "*"), count: sought.count))
        }
        return bytes
    }
}
