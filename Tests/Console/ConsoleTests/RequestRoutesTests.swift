import Console
import EventContract
import Foundation
import Synchronization
import Testing

/// The page about one request in the console.
struct RequestRoutesTests {
    private static func lives(of id: String) -> RequestLives {
        var life = RequestLife(source: SourcePosition(topic: "requests", partition: 3, offset: 7))
        life.request = RequestLife.Request(
            time: WallTime(milliseconds: 1000), key: [0xFF], value: Array("<img src=x>".utf8),
            headers: [RecordHeader("n", nil)], requestID: "r-1", traceID: "abc")
        life.state = .waiting(before: 1204)
        var reading = RequestLives.Reading(topic: "requests")
        reading.problem = "not allowed"
        return RequestLives(id: id, lives: [life], readings: [reading])
    }

    @Test func `A request is found by its id`() async throws {
        let console = try await RunningConsole { $0.traceLink = TraceLink("https://jaeger.example/trace/{traceId}") }
        console.backend.state.withLock { $0.lives["r 1"] = Self.lives(of: "r 1") }
        let answer = try await console.get("/api/requests?id=r%201")

        #expect(answer.status == 200)
        let request = try #require((answer.json["requests"] as? [[String: Any]])?.first)
        #expect(request["state"] as? String == "waiting")
        #expect(request["before"] as? Int == 1204)
        #expect(request["traceURL"] as? String == "https://jaeger.example/trace/abc")
        let record = try #require(request["record"] as? [String: Any])
        #expect(record["value"] as? String == "<img src=x>")
        #expect(record["keyBase64"] as? String == "/w==")
        #expect((answer.json["readings"] as? [[String: Any]])?.first?["problem"] as? String == "not allowed")
    }

    @Test(arguments: ["/api/requests", "/api/requests?id=", "/api/requests?id=\(String(repeating: "x", count: 513))"])
    func `An id is required`(path: String) async throws {
        let console = try await RunningConsole()
        let answer = try await console.get(path)
        #expect(answer.status == 400, "\(answer.body)")
    }

    @Test func `Absent brokers are reported`() async throws {
        let console = try await RunningConsole()
        console.backend.state.withLock { $0.refusal = ConsoleError(.unavailable, "no broker answers") }
        let answer = try await console.get("/api/requests?id=r")
        #expect(answer.status == 503)
        #expect((answer.json["error"] as? [String: Any])?["message"] as? String == "no broker answers")
    }
}
