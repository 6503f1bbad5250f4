/// The checks, ordered so that each comes after those it depends on.
enum DoctorChecks {
    /// The checks that need no network and do not wait. A worker runs them before it starts.
    static let ofStart: [any DoctorCheck] = [SettingsCheck(), LibraryCheck(), PortCheck(isStart: true), FilesCheck()]

    static let all: [any DoctorCheck] = [
        SettingsCheck(), LibraryCheck(), PortCheck(isStart: false), FilesCheck(), ConnectionCheck(), BrokersCheck(),
        TopicsCheck(), FleetCheck(), RightsCheck(), GroupCheck(), ProvidersCheck(), KeysCheck(), QuotasCheck(),
        BudgetsCheck(), TermsCheck(), ClockCheck(),
    ]

    /// Runs checks one after another.
    /// - Parameter show: receives each finding as soon as it is available.
    static func report(
        of checks: [any DoctorCheck], in examination: Examination, showing show: (Finding) -> Void = { _ in }
    ) async -> DoctorReport {
        var (examination, report) = (examination, DoctorReport())
        for check in checks {
            for finding in await findings(of: check, &examination) {
                report.add(finding)
                show(finding)
            }
        }
        return report
    }

    private static func findings(of check: any DoctorCheck, _ examination: inout Examination) async -> [Finding] {
        do throws(SkippedCheck) {
            return try await check.findings(&examination)
        } catch {
            return [Finding(type(of: check).name, .skipped, error.reason, cure: error.cure)]
        }
    }
}
