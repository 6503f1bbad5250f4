import Console
import Foundation
import Synchronization
import Testing

/// Operators' orders in the console.
struct ControlRoutesTests {
    @Test func `The orders are shown as the backend writes them`() async throws {
        let console = try await RunningConsole()
        let list = #"{"orders":[{"control":"pause-intake","by":"mori@ops"}],"providers":["hotpepper"]}"#
        console.backend.state.withLock { $0.controls = list }
        #expect(try await console.get("/api/controls").body == list)
    }

    @Test(
        arguments: [
            (#"{"pause":true,"provider":"hotpepper","forSeconds":600}"#, true, "hotpepper", 600),
            (#"{"pause":true,"intake":true}"#, true, nil, nil),
            (#"{"pause":true,"intake":true,"later":true}"#, true, nil, nil),
            (#"{"pause":false,"intake":false,"provider":"hotpepper","forSeconds":null}"#, false, "hotpepper", nil),
        ] as [(String, Bool, String?, Int?)])
    func `A pause or resume is passed on`(body: String, isPause: Bool, provider: String?, seconds: Int?) async throws {
        let console = try await RunningConsole()
        let answer = try await console.post("/api/controls/pause", body)

        #expect(answer.status == 200, "\(answer.body)")
        #expect(answer.json["taken"] as? Int == 2)
        #expect(answer.json["workers"] as? Int == 3)
        let choice = try #require(console.backend.state.withLock { $0.choices.first })
        #expect((choice.isPause, choice.provider, choice.seconds) == (isPause, provider, seconds))
        #expect(choice.isLater == body.contains("later"))
    }

    @Test func `A retry is passed on`() async throws {
        let console = try await RunningConsole()
        let answer = try await console.post("/api/controls/pause", #"{"retry":true,"provider":"hotpepper"}"#)
        #expect(answer.status == 200, "\(answer.body)")
        let choice = try #require(console.backend.state.withLock { $0.choices.first })
        #expect(choice.isRetry && choice.provider == "hotpepper")
    }

    @Test(arguments: [
        "null", "{", #"{"pause":true}"#, #"{"provider":"hotpepper"}"#,
        #"{"pause":true,"provider":"hotpepper","intake":true}"#,
        #"{"pause":true,"intake":true,"forSeconds":0}"#, #"{"pause":true,"intake":true,"forSeconds":604801}"#,
        #"{"pause":true,"intake":true,"forSeconds":"1h"}"#, #"{"pause":"yes","intake":true}"#,
        #"{"retry":true,"intake":true}"#, #"{"retry":true,"pause":true,"provider":"hotpepper"}"#, #"{"retry":true}"#,
    ])
    func `A malformed order pauses nothing`(body: String) async throws {
        let console = try await RunningConsole()
        let answer = try await console.post("/api/controls/pause", body)

        #expect(answer.status == 400, "\(answer.body)")
        #expect(console.backend.state.withLock { $0.choices.isEmpty })
    }
}
