import Console
import EventContract
import Foundation
import Synchronization
import Testing

/// Dead letters in the console.
struct DeadLetterRoutesTests {
    private static func console() async throws -> RunningConsole {
        let console = try await RunningConsole()
        console.backend.state.withLock { ($0.version, $0.list) = ("1:8", #"{"confirm":"1:8","letters":[]}"#) }
        return console
    }

    @Test func `Letters are redriven once their list is confirmed`() async throws {
        let console = try await Self.console()
        let list = try await console.get("/api/dead-letters")
        let confirm = try #require(list.json["confirm"] as? String)

        let answer = try await console.post(
            "/api/dead-letters/redrive", #"{"confirm":"\#(confirm)","letters":[{"partition":1,"offset":7}]}"#)
        #expect(answer.status == 200)
        #expect(answer.json["chosen"] as? Int == 1 && answer.json["isSending"] as? Bool == true)
        #expect(console.backend.state.withLock { $0.redriven } == [.init(partition: 1, offset: 7): nil])
        #expect(console.backend.state.withLock { $0.expiry == nil && !$0.again })

        let more = #""expiryMs":300000,"again":true,"letters":[{"partition":1,"offset":7}]"#
        _ = try await console.post("/api/dead-letters/redrive", #"{"confirm":"\#(confirm)",\#(more)}"#)
        #expect(console.backend.state.withLock { $0.expiry == .seconds(300) && $0.again })
    }

    @Test func `The filter is read from the URL`() async throws {
        let console = try await Self.console()
        let answer = try await console.get(
            "/api/dead-letters?limit=5000&reason=invalid-request&member=&producer=https%3A%2F%2Fshop.example%2F%3Fa"
                + "&text=%E6%96%B0%20x%2By&since=2026-11-21T09:30:00Z")
        #expect(answer.status == 200, "\(answer.body)")
        var expected = DeadLetterQuery(limit: 1000)
        (expected.reason, expected.member) = ("invalid-request", "")
        (expected.producer, expected.text) = ("https://shop.example/?a", "新 x+y")
        expected.since = WallTime(rfc3339: Array("2026-11-21T09:30:00Z".utf8))
        #expect(console.backend.state.withLock { $0.query } == expected)

        let wrong = try await console.get("/api/dead-letters?since=yesterday")
        #expect(wrong.status == 400 && wrong.problem.contains("RFC 3339"))
        _ = try await console.get("/api/dead-letters?text=")
        #expect(console.backend.state.withLock { $0.query } == DeadLetterQuery())
    }

    @Test func `A whole letter is returned until it is gone`() async throws {
        let console = try await Self.console()
        #expect(try await console.get("/api/dead-letters/1/7").json["reason"] as? String == "invalid-request")
        for path in ["1/8", "x/7", "1/-1", "99999999999/7"] {
            let answer = try await console.get("/api/dead-letters/\(path)")
            #expect(answer.status == 404 && !answer.problem.isEmpty, "\(path)")
        }
    }

    @Test func `An edited value is validated and sent unchanged`() async throws {
        let console = try await Self.console()
        let letter = #"{"partition":1,"offset":7,"value":"VALUE"}"#
        func judge(_ value: String) async throws -> RunningConsole.Answer {
            let edited = letter.replacing("VALUE", with: value)
            return try await console.post("/api/dead-letters/judge", #"{"letters":[\#(edited)]}"#)
        }

        let fault = try await judge("wrong").json["fault"] as? [String: Any]
        #expect(fault?["member"] as? String == "location.latitude" && fault?["message"] is String)
        #expect(try await judge("right").body == "{}")
        let nothing = try await console.post("/api/dead-letters/judge", #"{"letters":[{"partition":1,"offset":7}]}"#)
        #expect(nothing.status == 400)

        let edited = letter.replacing("VALUE", with: #"{\"新\":1}"#)
        let sent = try await console.post("/api/dead-letters/redrive", #"{"confirm":"1:8","letters":[\#(edited)]}"#)
        #expect(sent.status == 200, "\(sent.body)")
        #expect(
            console.backend.state.withLock { $0.redriven } == [
                .init(partition: 1, offset: 7): Array(#"{"新":1}"#.utf8)
            ])
    }

    @Test func `The report of a redrive is returned`() async throws {
        let console = try await Self.console()
        console.backend.state.withLock { state in
            state.report.sent = 4
            (state.report.isSending, state.report.completed, state.report.cameBack) = (false, 1, 1)
            (state.report.failed, state.report.open) = (["timeout": 1, "invalid-request": 1, "internal": 2], 0)
        }
        let report = try await console.get("/api/dead-letters/redrives/1").json
        #expect(report["sent"] as? Int == 4 && report["completed"] as? Int == 1 && report["cameBack"] as? Int == 1)
        #expect(report["isSending"] as? Bool == false && report["isWaiting"] as? Bool == true)
        #expect(report["waitMs"] as? Int == 60_000)
        let failed = (report["failed"] as? [[String: Any]])?.compactMap { $0["code"] as? String }
        #expect(failed == ["internal", "invalid-request", "timeout"], "the most frequent first")

        #expect(try await console.get("/api/dead-letters/redrives/2").status == 404)
    }

    @Test(arguments: [
        (#"{"letters":[{"partition":1,"offset":7}]}"#, 400), (#"{"confirm":"1:8","letters":[]}"#, 400),
        (#"{"confirm":"1:8","letters":[{"partition":1}]}"#, 400), (#"{"confirm":"1:8""#, 400), ("null", 400),
        (#"{"confirm":"1:9","letters":[{"partition":1,"offset":7}]}"#, 409),
    ])
    func `A malformed request redrives nothing`(body: String, status: Int) async throws {
        let console = try await Self.console()
        let answer = try await console.post("/api/dead-letters/redrive", body)

        #expect(answer.status == status, "\(answer.body)")
        #expect(console.backend.state.withLock { $0.redriven.isEmpty })
    }
}
