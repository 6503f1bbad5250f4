import Kafka
import KafkaTestSupport
import TestSupport
import Testing

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

        let program = try await RunningProgram.run(arguments, environment: harness.environment)

        #expect(program.code == code, "\(program.output)\(program.error)")
        #expect((program.output + program.error).contains(shown), "\(program.output)\(program.error)")
        #expect(!program.error.contains("authorization"), "\(program.error)")
    }

    @Test func `The console needs no right on a group`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0)
        try refuseGroups(of: harness)

        let console = try RunningProgram(["console", "--console-port", "0"], environment: harness.environment)
        defer { console.end() }
        let url = try await console.address()
        #expect(try await HTTPAnswer("\(url)/api/dead-letters").body.contains("invalid-request"))

        // A new outcome is shown, so the console reads the topics.
        try await harness.answer(0, with: nil)
        let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
        let page = try LoopbackConnection(port: port)
        page.send("GET /api/traffic/events HTTP/1.1\r\nhost: 127.0.0.1:\(port)\r\n\r\n")
        var shown = ""
        try await eventually("the outcome is shown") {
            shown += String(decoding: page.readAvailable(), as: UTF8.self)
            return shown.contains(harness.broker.name("results"))
        }
        #expect(!console.error.contains("authorization"), "\(console.error)")
    }

    private func refuseGroups(of harness: DeadLetterHarness) throws {
        for api in [EmbeddedBroker.API.findCoordinator, .offsetFetch, .offsetCommit, .joinGroup] {
            try harness.embedded.fail(api, with: 30, count: 1000)
        }
    }
}
