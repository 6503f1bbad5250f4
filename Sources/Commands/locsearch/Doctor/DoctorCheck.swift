/// One check of `locsearch doctor`.
protocol DoctorCheck: Sendable {
    /// The name of the check in the report.
    static var name: String { get }

    /// Runs the check, and stores in the examination what later checks need.
    /// - Returns: at least one finding.
    func findings(_ examination: inout Examination) async -> [Finding]
}

extension DoctorCheck {
    var name: String { Self.name }

    func ok(_ text: String) -> Finding { .ok(name, text) }

    func warning(_ text: String, cure: String) -> Finding { .warning(name, text, cure: cure) }

    func failed(_ text: String, cure: String? = nil, code: Int32 = 1) -> Finding {
        .failed(name, text, cure: cure, code: code)
    }

    func unknown(_ text: String, cure: String) -> Finding { .unknown(name, text, cure: cure) }

    func skipped(_ text: String, cure: String) -> Finding { .skipped(name, text, cure: cure) }
}

/// The checks, ordered so that each comes after those it depends on.
enum DoctorChecks {
    /// The checks that need no network and do not wait. A worker runs them before it starts.
    static let ofStart: [any DoctorCheck] = [SettingsCheck(), LibraryCheck(), PortCheck(isStart: true)]

    static let all: [any DoctorCheck] = [
        SettingsCheck(), LibraryCheck(), PortCheck(isStart: false), FilesCheck(), DiskCheck(),
        NamesCheck(), ConnectionsCheck(), ProtocolCheck(), LoginCheck(), VersionsCheck(), BrokersCheck(),
        TopicsCheck(), FleetCheck(), RightsCheck(), GroupCheck(),
        ProvidersCheck(), KeysCheck(), ClockCheck(),
    ]

    /// Runs checks one after another.
    /// - Parameter show: receives each finding as soon as it is available.
    static func report(
        of checks: [any DoctorCheck], in examination: Examination, showing show: (Finding) -> Void = { _ in }
    ) async -> DoctorReport {
        var (examination, report) = (examination, DoctorReport())
        for check in checks {
            for finding in await check.findings(&examination) {
                report.add(finding)
                show(finding)
            }
        }
        return report
    }
}
