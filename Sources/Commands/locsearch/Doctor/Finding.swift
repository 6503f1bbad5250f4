import Observability

/// What a check has found: one line of the report.
struct Finding: Sendable, Hashable {
    enum State: String, Sendable, CaseIterable {
        case ok
        /// The worker works, and less well than it could.
        case warning
        /// The worker does not start, or cannot do its work.
        case failed
        /// Nothing says whether it is right.
        case unknown
        /// Not looked at, because something else has to be right first or because nobody wants it.
        case skipped
    }

    /// The name of the check, such as `topics`.
    let check: String
    let state: State
    /// What was found, without its full stop.
    let text: String
    /// What to do about it; `nil` where nothing is to be done, or where the text says it.
    let cure: String?
    /// The exit code of a program that ends for this reason.
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

    /// - Parameter code: 78 for a wrong setting, 69 for somebody who cannot be reached, 1 for anything else.
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

    /// Nothing in a finding shows a secret or moves a cursor: answers of strangers are a part of some.
    private static func shown(_ text: String) -> String {
        TerminalText.safe(SecretRegistry.shared.redacted(text))
    }
}
