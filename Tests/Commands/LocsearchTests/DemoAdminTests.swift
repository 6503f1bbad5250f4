import TestSupport
import Testing

/// The admin endpoints of `locsearch demo`.
struct DemoAdminTests {
    @Test(.timeLimit(.minutes(4))) func `The demo prints the address of its admin endpoints`() async throws {
        let demo = try await RunningProgram.demo(["--admin-port", "0"])
        defer { demo.end() }

        let address = try #require(try demo.line("admin ").split(separator: " ").dropFirst().first)
        // The group is stable once the demo reports that it is up.
        let second = try #require(try demo.line("A second worker").split(separator: " ").last)
        for worker in [address, second] {
            let ready = try await HTTPAnswer("\(worker)/readyz")
            #expect(ready.status == 200, "\(ready.body)")
        }
        let metrics = try await HTTPAnswer("\(address)/metrics").body
        #expect(metrics.contains("locsearch_requests_completed_total"), "\(metrics)")

        try await demo.terminate()
        #expect(demo.code == 0, "\(demo.error)")
    }

    @Test func `The demo rejects an admin port that is taken`() async throws {
        let other = try RawServer { $0.waitForClose() }
        defer { other.stop() }

        let demo = try await RunningProgram.run(["demo", "--admin-port", "\(other.port)"])
        #expect(demo.code == 78, "\(demo.output)\(demo.error)")
        #expect(demo.error.contains("admin.port: cannot listen on 127.0.0.1:\(other.port)"), "\(demo.error)")
        #expect(demo.error.split(separator: "\n").count == 1, "\(demo.error)")
    }
}
