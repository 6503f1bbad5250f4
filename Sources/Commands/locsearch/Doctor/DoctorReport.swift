import JSON
import Observability

/// The findings of all checks, as text and as JSON.
struct DoctorReport: Sendable {
    private(set) var findings: [Finding] = []

    mutating func add(_ finding: Finding) { findings.append(finding) }

    func count(_ state: Finding.State) -> Int { findings.count { $0.state == state } }

    /// Returns the exit code: that of the first failure, or 1 for a warning if `isStrict`.
    func exitCode(isStrict: Bool = false) -> Int32 {
        if let failure = findings.first(where: { $0.state == .failed }) { return failure.code }
        return isStrict && count(.warning) > 0 ? 1 : 0
    }

    /// The failures as the final error lines of a program that cannot start; `nil` if there are none.
    var failure: Failure? {
        let failures = findings.filter { $0.state == .failed }
        guard let first = failures.first else { return nil }
        return Failure(failures.map(\.sentence).joined(separator: "\nlocsearch: "), code: first.code)
    }

    static func line(_ finding: Finding) -> String {
        let state = finding.state == .failed ? "FAILED" : finding.state.rawValue
        return padded(state, to: 8) + padded(finding.check, to: 12) + finding.sentence
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    /// The last line of the report, with the number of findings in each state.
    var summary: String {
        let counts = [(count(.failed), "failed"), (count(.warning), "with warnings"), (count(.unknown), "unknown")]
        let told = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" } + ["\(count(.ok)) ok"]
        let skipped = count(.skipped)
        return (told + (skipped > 0 ? ["\(skipped) skipped"] : [])).joined(separator: ", ")
    }

    func json(exitCode: Int32) -> String {
        JSONWriter.objectText(capacity: 4096) { json in
            json.member("exitCode", Int(exitCode))
            for state in Finding.State.allCases {
                json.key(state.rawValue)
                json.value(count(state))
            }
            json.objects("checks", of: findings) { finding, json in
                json.member("check", finding.check)
                json.member("state", finding.state.rawValue)
                json.member("text", finding.text)
                json.member("cure", finding.cure)
            }
        }
    }
}

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
