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

    private init(_ check: String, _ state: State, _ text: String, cure: String?, code: Int32 = 0) {
        self.check = check
        self.state = state
        self.text = Self.shown(text)
        self.cure = cure.map(Self.shown)
        self.code = code
    }

    static func ok(_ check: String, _ text: String) -> Finding { Finding(check, .ok, text, cure: nil) }

    static func warning(_ check: String, _ text: String, cure: String) -> Finding {
        Finding(check, .warning, text, cure: cure)
    }

    /// - Parameter code: 78 for a wrong setting, 69 for an unreachable server, 1 for anything else.
    static func failed(_ check: String, _ text: String, cure: String? = nil, code: Int32 = 1) -> Finding {
        Finding(check, .failed, text, cure: cure, code: code)
    }

    static func unknown(_ check: String, _ text: String, cure: String) -> Finding {
        Finding(check, .unknown, text, cure: cure)
    }

    static func skipped(_ check: String, _ text: String, cure: String) -> Finding {
        Finding(check, .skipped, text, cure: cure)
    }

    var sentence: String { cure.map { "\(text); \($0)" } ?? text }

    /// Removes secrets and control characters, because some findings contain answers of unknown servers.
    private static func shown(_ text: String) -> String {
        TerminalText.safe(SecretRegistry.shared.redacted(text))
    }
}
