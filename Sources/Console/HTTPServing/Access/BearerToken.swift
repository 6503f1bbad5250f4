internal import Synchronization

/// The password of a server's endpoints that are not for everybody. It may be replaced while
/// requests come in. Safe to use from any thread.
package final class BearerToken: Sendable {
    private let bytes: Mutex<[UInt8]>

    /// - Parameter text: what a client shows in `Authorization: Bearer TEXT`.
    package init(_ text: String) { bytes = Mutex(Array(text.utf8)) }

    /// Has every later request need `text`.
    package func replace(with text: String) { bytes.withLock { $0 = Array(text.utf8) } }

    /// The fewest characters of a token that an operator may choose: fewer can be guessed.
    package static let fewestCharacters = 16

    /// Returns the text that the value of an `Authorization` header shows; `nil` when it shows none in this way.
    package static func text(in authorization: String?) -> Substring? {
        let scheme = "bearer "
        guard let authorization, authorization.prefix(scheme.count).lowercased() == scheme else { return nil }
        return authorization.dropFirst(scheme.count)
    }

    /// Returns true when a text is the token.
    ///
    /// The time that it takes depends on what was shown and not on how much of it is right, so that nobody can guess the
    /// token piece by piece.
    package func admits(_ text: some StringProtocol) -> Bool {
        let shown = Array(text.utf8)
        return bytes.withLock { token in
            guard !token.isEmpty else { return false }

            var difference = shown.count ^ token.count
            for (index, byte) in shown.enumerated() { difference |= Int(byte ^ token[index % token.count]) }
            return difference == 0
        }
    }
}

/// No text that is made of a token shows it.
extension BearerToken: CustomStringConvertible, CustomReflectable {
    package var description: String { "(hidden)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
