import Console
import EventContract
import Foundation
import Synchronization
import Testing

/// Dead letters in the console.
struct DeadLetterRoutesTests {
    private static let letters = DeadLetterList(
        total: 2, pending: 1,
        letters: [
            .init(
                position: .init(partition: 1, offset: 7), reason: "invalid-request", message: "value is no JSON",
                source: SourcePosition(topic: "requests", partition: 0, offset: 9), time: EventTime(milliseconds: 0),
                valueHead: "<img src=x>", isRedriven: false, isWithoutContent: false)
        ], version: "1:8")

    private static func console() async throws -> RunningConsole {
        let console = try await RunningConsole()
        console.backend.state.withLock { $0.list = letters }
        return console
    }

    @Test func lettersGoBackOnceTheirListIsConfirmed() async throws {
        let console = try await Self.console()
        let list = try await console.get("/api/dead-letters")
        let row = try #require((list.json["letters"] as? [[String: Any]])?.first)
        #expect(row["valueHead"] as? String == "<img src=x>")
        #expect((row["source"] as? [String: Any])?["offset"] as? Int == 9)
        let confirm = try #require(list.json["confirm"] as? String)

        let answer = try await console.post(
            "/api/dead-letters/redrive", #"{"confirm":"\#(confirm)","letters":[{"partition":1,"offset":7}]}"#)
        #expect(answer.status == 200)
        #expect(answer.json["redriven"] as? Int == 1)
        #expect(console.backend.state.withLock { $0.redriven } == [.init(partition: 1, offset: 7)])
        await console.stop()
    }

    @Test(arguments: [
        (#"{"letters":[{"partition":1,"offset":7}]}"#, 400), (#"{"confirm":"1:8","letters":[]}"#, 400),
        (#"{"confirm":"1:8","letters":[{"partition":1}]}"#, 400), (#"{"confirm":"1:8""#, 400), ("null", 400),
        (#"{"confirm":"1:9","letters":[{"partition":1,"offset":7}]}"#, 409),
    ])
    func nothingGoesBackByMistake(body: String, status: Int) async throws {
        let console = try await Self.console()
        let answer = try await console.post("/api/dead-letters/redrive", body)
        await console.stop()

        #expect(answer.status == status, "\(answer.body)")
        #expect(console.backend.state.withLock { $0.redriven.isEmpty })
    }
}
