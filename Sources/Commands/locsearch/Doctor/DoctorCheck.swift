/// One check of `locsearch doctor`.
protocol DoctorCheck: Sendable {
    /// The name of the check in the report.
    static var name: String { get }

    /// Runs the check, and stores in the examination what later checks need.
    /// - Returns: at least one finding.
    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding]
}

extension DoctorCheck {
    func ok(_ text: String) -> Finding { Finding(Self.name, .ok, text) }

    func warning(_ text: String, cure: String) -> Finding { Finding(Self.name, .warning, text, cure: cure) }

    /// - Parameter code: 78 for a wrong setting, 69 for an unreachable server, 1 for anything else.
    func failed(_ text: String, cure: String? = nil, code: Int32 = 1) -> Finding {
        Finding(Self.name, .failed, text, cure: cure, code: code)
    }

    func unknown(_ text: String, cure: String) -> Finding { Finding(Self.name, .unknown, text, cure: cure) }
}
