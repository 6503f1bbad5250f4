import Foundation
import Kafka
import KafkaTestSupport
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Every tool works for a user without rights on any group, as docs/access.md promises.
///
/// The embedded broker answers each request about a group with GROUP_AUTHORIZATION_FAILED.
@Suite(.enabled(if: TestBroker.isEmbedded, "a shared broker cannot be told to refuse"))
struct GroupRightsTests {
    private static let commands: [(arguments: [String], code: Int32, shown: String)] = [
        (["budget"], 0, "no prov"),
        (["dead-letters", "list"], 0, "invalid-request"),
        (["dead-letters", "redrive", "--wait", "1s"], 0, "1 dead letter went back"),
        (["watch", "--from-beginning", "--count", "1"], 0, "nothing found"),
        // There is no answer; the test checks that the command waited for one.
        (["search", "--lat", "35.69", "--lng", "139.7", "--timeout", "4s"], 69, "no outcome within 4s"),
    ]

    @Test(arguments: commands)
    func `A tool needs no right on a group`(arguments: [String], code: Int32, shown: String) async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0)
        try await harness.answer(0, with: nil)
        try refuseGroups(of: harness)

        let program = try RunningProgram(arguments, environment: harness.environment)
        defer { program.end() }
        try await eventually("\(arguments) ends", within: .seconds(60)) { !program.isRunning }

        #expect(program.code == code, "\(program.output)\(program.error)")
        #expect((program.output + program.error).contains(shown), "\(program.output)\(program.error)")
        #expect(!program.error.contains("authorization"), "\(program.error)")
        await harness.close()
    }
    @Test func `The console needs no right on a group`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0)
        try refuseGroups(of: harness)

        let console = try RunningProgram(["console", "--console-port", "0"], environment: harness.environment)
        defer { console.end() }
        try await eventually("the console says where it is", within: .seconds(60)) { console.firstLine != nil }
        let url = try #require(console.firstLine?.split(separator: " ").last)
        let (list, _) = try await URLSession.shared.data(from: try #require(URL(string: "\(url)/api/dead-letters")))
        #expect(String(decoding: list, as: UTF8.self).contains("invalid-request"))

        // A new outcome is shown, so the console reads the topics.
        try await harness.answer(0, with: nil)
        let port = try #require(URL(string: String(url))?.port)
        let page = try LoopbackConnection(port: port)
        page.send("GET /api/traffic/events HTTP/1.1\r\nhost: 127.0.0.1:\(port)\r\n\r\n")
        var shown = ""
        try await eventually("the outcome is shown") {
            shown += String(decoding: page.readAvailable(), as: UTF8.self)
            return shown.contains(harness.broker.name("results"))
        }
        #expect(!console.error.contains("authorization"), "\(console.error)")
        await harness.close()
    }

    private func refuseGroups(of harness: DeadLetterHarness) throws {
        for api in [EmbeddedBroker.API.findCoordinator, .offsetFetch, .offsetCommit, .joinGroup] {
            try harness.embedded.fail(api, with: 30, count: 1000)
        }
    }
}
