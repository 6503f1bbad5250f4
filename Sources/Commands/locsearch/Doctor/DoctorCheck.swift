/// One thing that `locsearch doctor` looks at.
protocol DoctorCheck: Sendable {
    /// The name of the check in the report.
    static var name: String { get }

    /// Looks, and notes in the examination what later checks build upon.
    /// - Returns: At least one finding.
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

/// The checks, in the order in which they build upon each other.
enum DoctorChecks {
    /// Those that ask nobody and wait for nothing. A worker makes them before it starts.
    static let ofStart: [any DoctorCheck] = [SettingsCheck(), LibraryCheck(), PortCheck(isStart: true)]

    static let all: [any DoctorCheck] = [
        SettingsCheck(), LibraryCheck(), PortCheck(isStart: false), FilesCheck(), DiskCheck(),
        NamesCheck(), ConnectionsCheck(), ProtocolCheck(), LoginCheck(), VersionsCheck(), BrokersCheck(),
        TopicsCheck(), FleetCheck(), RightsCheck(), GroupCheck(),
        ProvidersCheck(), KeysCheck(), ClockCheck(),
    ]

    /// Makes checks, one after another.
    /// - Parameter show: gets each finding as soon as it is there.
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
