import Basics
import Foundation
import ProviderSimulator
import TestSupport
import Testing

@testable import locsearch

/// `locsearch probe`, as a container's health check runs it.
struct ProbeTests {
    /// Runs the command and returns its exit code and its standard error.
    private func probe(_ arguments: String...) async throws -> (code: Int32, error: String) {
        let program = try await RunningProgram.run(["probe"] + arguments)
        return (try #require(program.code), program.error)
    }

    @Test func `A probe succeeds for each status from 200 to 299`() async throws {
        let server = try LoopbackHTTPServer { .init(status: $0 == "/made" ? 204 : 200, body: "") }
        defer { server.stop() }

        for path in ["/readyz", "/made"] {
            let (code, error) = try await probe(server.baseURL + path)
            #expect(code == 0, "\(path): \(error)")
            #expect(error.isEmpty)
        }
        #expect(server.targets == ["/readyz", "/made"])
    }

    @Test(arguments: [301, 404, 503])
    func `A failed probe prints the endpoint's answer`(status: Int) async throws {
        let server = try LoopbackHTTPServer { _ in
            .init(status: status, body: "no partitions\u{1B}[2J yet\nmore\n")
        }
        defer { server.stop() }

        let (code, error) = try await probe(server.baseURL)
        #expect(code == 69)
        #expect(error == "locsearch: status \(status): no partitions [2J yet\n")
    }

    @Test func `A probe fails with one line if no server answers`() async throws {
        let port = try RawServer.unusedPort()
        let (code, error) = try await probe("http://127.0.0.1:\(port)/readyz")
        #expect(code == 69)
        #expect(error.contains("127.0.0.1:\(port)"), "\(error)")
        #expect(error.split(separator: "\n").count == 1, "\(error)")
    }

    @Test func `A probe ends when its timeout is over`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.waitForClose()
        }
        defer { server.stop() }

        let begin = Instant.now
        let (code, error) = try await probe("\(server.url)/readyz", "--timeout", "300ms")
        #expect(code == 69 && error.split(separator: "\n").count == 1, "\(error)")
        // The default timeout would be 5 s.
        #expect(Instant.now - begin < .seconds(5))
    }

    /// The simulator's health check in compose.yaml.
    @Test func `The simulator passes its health check`() async throws {
        let simulator = try await SimulatorServer.start(SimulatorConfiguration())
        let url = simulator.baseURL

        let (code, error) = try await probe("\(url)/_sim/stats")
        #expect(code == 0, "\(error)")
        await simulator.shutdown()
    }
}
