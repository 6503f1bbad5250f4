import Basics
import Foundation
import TestSupport
import Testing

@testable import locsearch

/// Set-ups with a fault between a worker and the providers.
struct DoctorProviderTests {
    private static let checks: [any DoctorCheck] = [ProvidersCheck(), KeysCheck(), ClockCheck()]

    private func report(_ settings: [String: String], agrees: Bool? = true) async -> DoctorReport {
        await DoctorFixture.report(settings, checks: Self.checks, agrees: agrees)
    }

    @Test func `The doctor finds an unreachable provider`() async throws {
        let server = try RawServer { $0.waitForClose() }
        let web = try RawServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            connection.endSending()
            connection.waitForClose()
        }
        defer { for server in [server, web] { server.stop() } }
        let setUps = [
            WrongSetUp(
                testDescription: "nobody listens",
                settings: ["hotpepper.baseURL": "http://127.0.0.1:\(try RawServer.unusedPort())"], check: "providers",
                text: "hotpepper is unreachable", cure: "to connect there", code: 69),
            WrongSetUp(
                testDescription: "https at a port of http",
                settings: ["hotpepper.baseURL": "https://127.0.0.1:\(web.port)"], check: "providers",
                text: "the TLS handshake failed; the port may serve http", cure: "write http://", code: 69),
            WrongSetUp(
                testDescription: "no such name", settings: ["hotpepper.baseURL": "http://nowhere.invalid"],
                check: "providers", text: "hotpepper is unreachable", cure: "add the name to DNS", code: 69),
            WrongSetUp(
                testDescription: "a proxy that is away",
                settings: [
                    "hotpepper.baseURL": "http://127.0.0.1:1",
                    "http.proxy": "http://127.0.0.1:\(try RawServer.unusedPort())",
                ], check: "providers", text: "hotpepper is unreachable", cure: "http.proxy", code: 69),
        ]
        for wrong in setUps {
            let report = await report(wrong.settings)
            DoctorFixture.expect(report, finds: wrong)
            #expect(report.count(.failed) == 1, "one cause has one line: \(report.findings.map(DoctorReport.line))")
        }
    }

    @Test func `The doctor finds a rejected key`() async throws {
        let simulator = try RunningProgram(["simulate"])
        defer { simulator.end() }
        let url = try await simulator.address()
        let bases = [
            "hotpepper.baseURL": url, "googlePlaces.baseURL": url, "googlePlacesLegacy.baseURL": url,
            "googlePlaces.apiKey": "a-good-key-4711",
        ]

        let sound = await report(bases)
        #expect(sound.count(.failed) == 0 && sound.count(.ok) == 6, "\(sound.findings.map(DoctorReport.line))")

        let refused = await report(bases.merging(["googlePlaces.apiKey": "wrong-key-Zq7secret"]) { $1 })
        for provider in ["google-places", "google-places-legacy"] {
            let wrong = WrongSetUp(
                testDescription: provider, settings: [:], check: "keys", text: "\(provider) rejects the key",
                cure: "check the key")
            DoctorFixture.expect(refused, finds: wrong)
        }
        #expect(refused.findings.contains { $0.check == "keys" && $0.text == "hotpepper accepts the key" })
        #expect(!refused.findings.contains { $0.sentence.contains("Zq7secret") })
    }

    @Test(
        arguments: [
            (429, "{}", .warning, "its quota is used up", "wait for the next day"),
            (404, "<html>not here</html>", .failed, "returned an unexpected response", "check its base URL"),
        ] as [(Int, String, Finding.State, String, String)])
    func `The doctor finds a used-up quota and another web server`(
        status: Int, body: String, state: Finding.State, text: String, cure: String
    ) async throws {
        let server = try LoopbackHTTPServer { _ in .init(status: status, body: body) }
        let wrong = WrongSetUp(
            testDescription: text, settings: ["hotpepper.baseURL": server.baseURL], check: "keys", state: state,
            text: text, cure: cure)
        DoctorFixture.expect(await report(wrong.settings), finds: wrong)
    }

    @Test(arguments: [(Int64(-3600), Finding.State.failed, "behind"), (20, .warning, "ahead of"), (0, .ok, "agrees")])
    func `The doctor finds a wrong clock`(seconds: Int64, state: Finding.State, text: String) async throws {
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                let now = WallTime.now().milliseconds / 1000
                connection.answer("{}", headers: "Date: \(HTTPDate.text(now + seconds))\r\n")
            }
        }
        defer { server.stop() }

        let report = await report(["hotpepper.baseURL": server.url], agrees: false)
        let clock = try #require(report.findings.first { $0.check == "clock" })
        #expect(clock.state == state && clock.text.contains(text), "\(clock)")
        #expect(seconds == 0 || clock.cure?.contains("NTP") == true)
    }

    @Test func `A key is tried only if the user agrees`() async throws {
        let server = try LoopbackHTTPServer { _ in .init(body: "{}") }
        let settings = ["hotpepper.baseURL": server.baseURL]

        let offline = await report(settings, agrees: nil)
        #expect(server.targets.isEmpty)
        #expect(offline.findings.map(\.state) == [.skipped, .skipped, .skipped])

        let refused = await report(settings, agrees: false)
        #expect(server.targets == ["/"], "reached, without a key")
        #expect(refused.findings.contains { $0.check == "keys" && $0.cure?.contains("--yes") == true })

        _ = await report(settings, agrees: true)
        #expect(server.targets.count == 3 && server.targets[2].contains("id=J000000001"))
    }
}
