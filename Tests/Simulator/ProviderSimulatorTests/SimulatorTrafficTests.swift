import Basics
import Foundation
import TestSupport
import Testing

@testable import ProviderSimulator

struct SimulatorTrafficTests {
    @Test func `Statistics count requests by provider and outcome`() async throws {
        let simulator = try await Simulator()
        let start = Date().timeIntervalSince1970
        for _ in 0..<3 { _ = try await simulator.gourmet(Simulator.spot) }
        _ = try await simulator.gourmet("", key: "key=secret-key")
        _ = try await simulator.nearby("location=35.69,139.7&radius=500")
        _ = try await simulator.search(.new, "fault:503")
        _ = try await simulator.get("/nowhere")
        let all = try await simulator.stats()
        #expect(all["requests"] as? Int == 7 && all["inFlight"] as? Int == 0)
        #expect((all["outcomes"] as? [String: Int])?["http-404"] == 1)
        let hotpepper = try await simulator.stats(.hotpepper)
        #expect(hotpepper["requests"] as? Int == 4)
        #expect(hotpepper["outcomes"] as? [String: Int] == ["ok": 3, "error-3000": 1])
        let seconds = try #require((hotpepper["perSecond"] as? [String: Any]))
        #expect((seconds["counts"] as? [Int])?.reduce(0, +) == 4)
        #expect((start - 2...Date().timeIntervalSince1970 + 1).contains(seconds["first"] as? Double ?? 0))
        #expect((1...4).contains(hotpepper["maxInAnySecond"] as? Int ?? 0))
        #expect(try await simulator.stats(.new)["outcomes"] as? [String: Int] == ["http-503": 1])
        let methods = try await simulator.stats(.new)["methods"] as? [String: [String: Int]]
        #expect(methods == ["searchText": ["requests": 1, "maxInAnySecond": 1]])

        _ = try await simulator.post("/_sim/reset", [:], "")
        #expect(try await simulator.stats()["requests"] as? Int == 0)
    }

    @Test func `Requests beyond the capacity wait`() async throws {
        let simulator = try await Simulator { $0.profile.capacity = 2 }
        let held = [try simulator.begin(.hotpepper, "fault:hang"), try simulator.begin(.hotpepper, "fault:hang")]
        try await eventually("both are served") {
            try await simulator.stats(.hotpepper)["beingServed"] as? Int == 2
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 { group.addTask { try await simulator.gourmet(Simulator.spot).status } }
            try await eventually("the others wait") {
                let stats = try await simulator.stats(.hotpepper)
                #expect(stats["beingServed"] as? Int == 2)
                return stats["waitingForTurn"] as? Int == 6
            }
            for client in held { client.hangUp() }
            for try await status in group { #expect(status == 200) }
        }
        // An answer is counted a moment after it has arrived.
        try await eventually("all are counted") {
            let stats = try await simulator.stats(.hotpepper)
            return stats["beingServed"] as? Int == 0 && stats["waitingForTurn"] as? Int == 0
                && stats["inFlight"] as? Int == 0
        }
        #expect(try await simulator.stats(.hotpepper)["maxInFlight"] as? Int == 8)
    }

    /// Most servers finish requests whose clients have disconnected.
    @Test func `A disconnected client's request still uses the capacity`() async throws {
        let simulator = try await Simulator { $0.profile.capacity = 1 }
        let start = Instant.now
        let gone = try await simulator.search(.hotpepper, "fault:delay=700", patience: 0.1)
        #expect(gone.ending == .silent)
        try await eventually("it is counted") { try await simulator.stats(.hotpepper)["aborted"] as? Int == 1 }
        #expect(try await simulator.search(.hotpepper, "fault:none").status == 200)
        #expect(Instant.now - start >= .milliseconds(690))
    }

    @Test func `Profiles change while the simulator runs`() async throws {
        let simulator = try await Simulator()
        #expect(try await simulator.configure("{\"apis\":[\"hotpepper\"],\"faults\":{\"503\":1}}").status == 200)
        #expect(try await simulator.gourmet(Simulator.spot).status == 503)
        #expect(try await simulator.nearby("location=35.69,139.7&radius=500").status == 200)
        // A fault in a request takes precedence.
        #expect(try await simulator.search(.hotpepper, "fault:404").status == 404)
        let change = "{\"faults\":{},\"latency\":\"120ms\",\"capacity\":3}"
        #expect(try await simulator.configure(change).status == 200)
        let slow = try await simulator.gourmet(Simulator.spot)
        #expect(slow.status == 200 && slow.seconds >= 0.11)
        #expect(try await simulator.configure("{\"latency\":\"0ms\",\"capacity\":null}").status == 200)
        #expect(try await simulator.gourmet(Simulator.spot).status == 200)
    }

    static let wrongChanges = [
        "", "[]", "{\"latenzy\":1}", "{\"latency\":-1}", "{\"latency\":\"soon\"}", "{\"faults\":{\"nonsense\":1}}",
        "{\"faults\":{\"503\":1.5}}", "{\"faults\":{\"503\":0.6,\"502\":0.6}}", "{\"capacity\":0}", "{\"capacity\":{}}",
        "{\"apis\":[\"other\"]}", "{\"faults\":{\"503\":1},\"capacity\":0}",
    ]
    @Test(arguments: wrongChanges)
    func `A wrong change is rejected and changes nothing`(change: String) async throws {
        let simulator = try await Simulator()
        let before = try await simulator.get("/_sim/config").text
        let answer = try await simulator.configure(change)
        #expect(answer.status == 400 && answer.object["error"] is String)
        #expect(try await simulator.get("/_sim/config").text == before)
    }

    @Test func `Faults have the share of the profile`() async throws {
        let simulator = try await Simulator { $0.profile.faults = ["503": 0.3, "UNKNOWN_ERROR": 0.2] }
        let statuses = try await blocking { () -> [String] in
            let client = try RawClient(port: simulator.port)
            return (0..<600).map { _ in
                client.send(
                    Simulator.request(
                        "GET", "/hotpepper/gourmet/v1/?key=k&format=json&\(Simulator.spot)", [:], body: nil))
                let answer = client.answer()
                return answer.status == 503 ? "503" : answer.code == 1000 ? "1000" : "ok"
            }
        }
        // The ranges are five standard deviations wide on each side.
        #expect((124...236).contains(statuses.count { $0 == "503" }))
        #expect((71...169).contains(statuses.count { $0 == "1000" }))
    }

    @Test func `A sliding window finds the fullest second`() {
        var window = SlidingWindow()
        // There are 100 within 0.5 s around a second boundary, so each wall-clock second has only 50.
        for index in 0..<100 { window.add(9_750_000_000 + UInt64(index) * 5_000_000) }
        #expect(window.maximum == 100)
        window.add(20_000_000_000)
        #expect(window.maximum == 100)
        var even = SlidingWindow()
        for index in 0..<10_000 { even.add(1 + UInt64(index) * 10_000_000) }
        #expect(even.maximum == 100)
    }

    @Test func `Seconds are counted across gaps and for hours`() {
        var seconds = PerSecond()
        for second in [100, 100, 103] { seconds.count(second) }
        #expect(seconds.first == 100 && seconds.counts == [2, 0, 0, 1])
        for second in 104..<20_000 { seconds.count(second) }
        #expect(seconds.counts.count <= 7201 && seconds.counts.last == 1)
        #expect(seconds.first + seconds.counts.count == 20_000)
        seconds.count(90_000_000)
        #expect(seconds.first == 90_000_000 && seconds.counts == [1])
    }

    @Test(
        arguments: [
            ("80ms", .fixed(.milliseconds(80))), ("0ms", .fixed(.zero)), ("1.5s", .fixed(.milliseconds(1500))),
            ("p50:80ms, p99:900ms", .lognormal(p50: .milliseconds(80), p99: .milliseconds(900))),
            ("2m", .fixed(.seconds(120))), ("", nil), ("x", nil), ("80", nil), ("-1ms", nil), ("20ms..80ms", nil),
            ("p50:80ms", nil), ("p50:80ms,p99:10ms", nil), ("nan ms", nil), ("1e99s", nil),
        ] as [(String, LatencyDistribution?)])
    func `A latency is read from its text`(text: String, latency: LatencyDistribution?) {
        #expect(LatencyDistribution(text) == latency)
    }

    @Test func `Samples have their distribution`() {
        var numbers = HashStream(3)
        let lognormal = (0..<20_000).map { _ in LatencyDistribution("p50:80ms,p99:900ms")?.sample(&numbers) ?? -1 }
            .sorted()
        #expect((76_000...84_000).contains(lognormal[10_000]))
        #expect((750_000...1_080_000).contains(lognormal[19_800]))
    }

    @Test func `An error names the member of a wrong configuration`() {
        let cases: [(String, (inout SimulatorConfiguration) -> Void)] = [
            ("port", { $0.port = 70_000 }), ("apiKey", { $0.apiKey = "" }),
            ("faults", { $0.profile.faults = ["nonsense": 0.1] }),
            ("capacity", { $0.profile.capacity = 0 }),
        ]
        for (member, change) in cases {
            var configuration = SimulatorConfiguration()
            change(&configuration)
            let error = #expect(throws: SimulatorError.self) { try configuration.validate() }
            guard case .invalidConfiguration(member, _)? = error else {
                Issue.record("\(member): \(String(describing: error))")
                continue
            }
        }
    }

    /// The control endpoint and the APIs accept numbers from any client; none of them may end the simulator.
    @Test(arguments: ["-1e300", "1e300", "9223372036854775807", "-9223372036854775808", "0.5", "1e-320"])
    func `The control endpoint accepts any number`(number: String) async throws {
        let simulator = try await Simulator()
        for body in [
            #"{"capacity":\#(number)}"#, #"{"latency":"\#(number)s"}"#,
            #"{"latency":"p50:1ms,p99:\#(number)s"}"#,
            #"{"faults":{"503":\#(number)}}"#,
        ] {
            #expect([200, 400].contains(try await simulator.configure(body).status), "\(body)")
        }
        _ = try await simulator.configure(#"{"capacity":null,"latency":"0ms","faults":{}}"#)

        for body in [
            #"{"textQuery":"x","pageSize":"\#(number)"}"#,
            #"{"textQuery":"x","locationRestriction":{"rectangle":{"low":{"latitude":\#(number)},"high":{}}}}"#,
        ] {
            #expect([200, 400].contains(try await simulator.new("searchText", body).status), "\(body)")
        }
        let circle = #"{"circle":{"center":{"latitude":\#(number)},"radius":\#(number)}}"#
        let nearby = try await simulator.new("searchNearby", #"{"locationRestriction":\#(circle)}"#)
        #expect([200, 400].contains(nearby.status))
    }
}
