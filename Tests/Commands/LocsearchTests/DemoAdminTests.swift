import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The admin endpoints of `locsearch demo`.
struct DemoAdminTests {
    @Test(.timeLimit(.minutes(4))) func `The demo prints the address of its admin endpoints`() async throws {
        let demo = try RunningProgram(["demo", "--admin-port", "0"])
        defer { demo.end() }
        try await eventually("the demo is up", within: .seconds(120)) { demo.output.contains("Ctrl-C ends the demo") }

        let line = try #require(demo.output.split(separator: "\n").first { $0.hasPrefix("admin ") })
        let address = try #require(line.split(separator: " ").dropFirst().first)
        let ready = try await get("\(address)/readyz")
        #expect(ready.status == 200, "\(ready.body)")
        // The group is stable once the demo reports that it is up.
        let second = try #require(demo.output.split(separator: "\n").first { $0.hasPrefix("A second worker") })
        let secondReady = try await get("\(second.split(separator: " ").last ?? "")/readyz")
        #expect(secondReady.status == 200, "\(secondReady.body)")
        let metrics = try await get("\(address)/metrics")
        #expect(metrics.body.contains("locsearch_requests_completed_total"), "\(metrics.body)")

        demo.signal(SIGTERM)
        try await eventually("the demo ends", within: .seconds(40)) { !demo.isRunning }
        #expect(demo.code == 0, "\(demo.error)")
    }

    @Test func `The demo rejects an admin port that is taken`() async throws {
        let simulator = try RunningProgram(["simulate"])
        defer { simulator.end() }
        try await eventually("the simulator tells its address", within: .seconds(20)) { simulator.firstLine != nil }
        let port = String(try #require(simulator.firstLine?.split(separator: ":").last))

        let demo = try RunningProgram(["demo", "--admin-port", port])
        defer { demo.end() }
        try await eventually("the demo ends", within: .seconds(60)) { !demo.isRunning }
        #expect(demo.code == 78, "\(demo.output)\(demo.error)")
        #expect(demo.error.contains("admin.port: cannot listen on 127.0.0.1:\(port)"), "\(demo.error)")
        #expect(demo.error.split(separator: "\n").count == 1, "\(demo.error)")
    }

    private func get(_ address: String) async throws -> (status: Int, body: String) {
        let (data, response) = try await URLSession.shared.data(from: try #require(URL(string: address)))
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }
}
