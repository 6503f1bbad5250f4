internal import Synchronization

/// The password of a server's protected endpoints. It may be replaced while requests arrive. Safe to use from any thread.
package final class BearerToken: Sendable {
    private let state: Mutex<(bytes: [UInt8], generation: Int)>

    /// - Parameter text: the token that a client sends in `Authorization: Bearer TEXT`.
    package init(_ text: String) { state = Mutex((Array(text.utf8), 0)) }

    /// Makes every later request need `text`.
    package func replace(with text: String) { state.withLock { $0 = (Array(text.utf8), $0.generation + 1) } }

    /// Increases with each replacement.
    package var generation: Int { state.withLock { $0.generation } }

    /// The minimum length of a token that an operator may choose: shorter ones can be guessed.
    package static let fewestCharacters = 16

    /// Returns the token in an `Authorization` header; `nil` if there is none in this form.
    package static func text(in authorization: String?) -> Substring? {
        let scheme = "bearer "
        guard let authorization, authorization.prefix(scheme.count).lowercased() == scheme else { return nil }
        return authorization.dropFirst(scheme.count)
    }

    /// Returns whether a text is the token.
    ///
    /// The time depends only on the length of the text and not on the matching part, so that the token cannot be guessed piece by piece.
    package func admits(_ text: some StringProtocol) -> Bool {
        let shown = Array(text.utf8)
        return state.withLock { state in
            let token = state.bytes
            guard !token.isEmpty else { return false }

            var difference = shown.count ^ token.count
            for (index, byte) in shown.enumerated() { difference |= Int(byte ^ token[index % token.count]) }
            return difference == 0
        }
    }
}

/// No textual form of a token shows it.
extension BearerToken: CustomStringConvertible, CustomReflectable {
    package var description: String { "(hidden)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
