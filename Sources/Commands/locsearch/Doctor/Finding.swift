import Observability

/// The result of a check: one line of the report.
struct Finding: Sendable, Hashable {
    enum State: String, Sendable, CaseIterable {
        case ok
        /// The worker runs, but not as well as it could.
        case warning
        /// The worker does not start, or cannot process requests.
        case failed
        /// The state could not be determined.
        case unknown
        /// The check was not made, because another problem must be solved first or the user did not allow it.
        case skipped
    }

    /// The name of the check, such as `topics`.
    let check: String
    let state: State
    /// The finding, without a full stop at the end.
    let text: String
    /// The advice to the user; `nil` if there is nothing to do, or the text contains it.
    let cure: String?
    /// The exit code if this finding ends the program.
    let code: Int32

    init(_ check: String, _ state: State, _ text: String, cure: String? = nil, code: Int32 = 0) {
        self.check = check
        self.state = state
        self.text = Self.shown(text)
        self.cure = cure.map(Self.shown)
        self.code = code
    }

    var sentence: String { cure.map { "\(text); \($0)" } ?? text }

    /// Removes secrets and control characters, because some findings contain answers of unknown servers.
    private static func shown(_ text: String) -> String {
        TerminalText.safe(SecretRegistry.shared.redacted(text))
    }
}
