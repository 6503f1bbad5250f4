import Foundation
import Kafka
import TestSupport
import Testing

@testable import locsearch

/// A set-up with one fault, and the expected finding of `locsearch doctor`.
struct WrongSetUp: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var settings: [String: String]
    /// The check that must find it.
    let check: String
    var state = Finding.State.failed
    /// A part of the text, and a part of the cure, unless the text contains the cure.
    let text: String
    var cure: String?
    var code: Int32 = 1
}

enum DoctorFixture {
    /// Settings of a worker without faults, apart from those that a test adds. They need no connection.
    static let sound = ["hotpepper.apiKey": "0123456789abcdef", "admin.port": "0"]

    /// - Parameter settings: the only settings; an empty text removes a sound setting.
    static func report(
        _ settings: [String: String], environment: [String: String] = [:], file: String? = nil,
        checks: [any DoctorCheck] = DoctorChecks.all, agrees: Bool? = nil, timeout: Duration = .seconds(5)
    ) async -> DoctorReport {
        let examination = examination(settings, environment: environment, file: file, agrees: agrees, timeout: timeout)
        return await DoctorChecks.report(of: checks, in: examination)
    }

    static func examination(
        _ settings: [String: String], environment: [String: String] = [:], file: String? = nil, agrees: Bool? = nil,
        timeout: Duration = .seconds(5)
    ) -> Examination {
        let flags = sound.merging(settings) { $1 }.filter { !$0.value.isEmpty }
        let reading = SettingsReading(flags: flags, file: file, environment: environment)
        var asks: (@Sendable (String) -> Bool)?
        if let agrees { asks = { _ in agrees } }
        return Examination(reading, asks: asks, timeout: timeout, log: .silent)
    }

    /// Expects that the fault is found, with a cure, and that no dependent check succeeds.
    static func expect(_ report: DoctorReport, finds wrong: WrongSetUp) {
        let all = report.findings.map(DoctorReport.line).joined(separator: "\n")
        let found = report.findings.first {
            $0.check == wrong.check && $0.state == wrong.state && $0.text.contains(wrong.text)
        }
        #expect(found != nil, "\(wrong.testDescription): \(all)")
        if let cure = wrong.cure { #expect(found?.cure?.contains(cure) == true, "\(wrong.testDescription): \(all)") }
        if wrong.state == .failed { #expect(report.exitCode() == wrong.code, "\(wrong.testDescription): \(all)") }
        for finding in report.findings {
            #expect(!finding.sentence.contains("\n") && !finding.text.isEmpty)
            // The error of a wrong setting itself states what is expected.
            let saysItself =
                [.ok, .failed].contains(finding.state) && (finding.state == .ok || finding.check == "settings")
            #expect(finding.cure?.isEmpty == false || saysItself, "no cure: \(DoctorReport.line(finding))")
        }
    }
}
