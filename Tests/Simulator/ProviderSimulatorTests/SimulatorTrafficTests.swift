import Basics
import Foundation
import TestSupport
import Testing

@testable import ProviderSimulator

struct SimulatorTrafficTests {
    @Test func statisticsCountRequestsByProviderMethodAndOutcome() async throws {
        try await Simulator.run { simulator in
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
            #expect(hotpepper["distinctRequests"] as? Int == 2 && hotpepper["repeatedRequests"] as? Int == 2)
            let methods = try #require(hotpepper["methods"] as? [String: Any])
            #expect((methods["gourmet"] as? [String: Any])?["requests"] as? Int == 4)
            let seconds = try #require((hotpepper["perSecond"] as? [String: Any]))
            #expect((seconds["counts"] as? [Int])?.reduce(0, +) == 4)
            #expect((start - 2...Date().timeIntervalSince1970 + 1).contains(seconds["first"] as? Double ?? 0))
            #expect((1...4).contains(hotpepper["maxInAnySecond"] as? Int ?? 0))
            #expect(try await simulator.stats(.new)["outcomes"] as? [String: Int] == ["http-503": 1])

            _ = try await simulator.post("/_sim/reset", [:], "")
            #expect(try await simulator.stats()["requests"] as? Int == 0)
        }
    }

    @Test func logShowsRequestsWithoutTheKey() async throws {
        try await Simulator.run { simulator in
            _ = try await simulator.gourmet("\(Simulator.spot)&keyword=secret-key", key: "key=secret-key")
            _ = try await simulator.get("/hotpepper/gourmet/v1/?k%65y=secret-key&format=json")
            _ = try await simulator.new("searchText", "{\"textQuery\":\"x\"}", key: "secret-key")
            let log = try await simulator.get("/_sim/log?last=10")
            #expect(!log.text.contains("secret-key"))
            let requests = try #require(log.object["requests"] as? [[String: Any]])
            #expect(requests.compactMap { $0["method"] as? String } == ["gourmet", "gourmet", "text"])
            #expect((requests[0]["parameters"] as? [String: String])?["lat"] == "35.690921")
            #expect(requests[2]["body"] as? String == "{\"textQuery\":\"x\"}")
            #expect(requests[0]["outcome"] as? String == "empty")
            let last = try await simulator.get("/_sim/log?last=1")
            #expect((last.object["requests"] as? [Any])?.count == 1)
        }
    }

    @Test func logKeepsTheLastRequestsAndTheirOutcomes() async throws {
        try await Simulator.run({ $0.logCapacity = 3 }) { simulator in
            func outcomes() async throws -> [String?] {
                let log = try await simulator.get("/_sim/log")
                return (log.object["requests"] as? [[String: Any]] ?? []).map { $0["outcome"] as? String }
            }
            var expected: [String?] = []
            for status in 501...508 {
                _ = try await simulator.search(.hotpepper, "fault:\(status)")
                expected.append("http-\(status)")
                #expect(try await outcomes() == expected.suffix(3))
            }
            _ = try await simulator.post("/_sim/reset", [:], "")
            #expect(try await outcomes().isEmpty)
            _ = try await simulator.search(.hotpepper, "fault:509")
            #expect(try await outcomes() == ["http-509"])
        }
    }

    @Test func everyProviderReportsAQuotaInItsOwnShape() async throws {
        try await Simulator.run({ $0.profile.quota = .init(requestsPerSecond: 0.0001, burst: 2, retryAfter: 9) }) {
            simulator in
            for _ in 0..<2 { #expect(try await simulator.gourmet(Simulator.spot).status == 200) }
            let hotpepper = try await simulator.gourmet(Simulator.spot)
            #expect(hotpepper.status == 429 && hotpepper.headers["retry-after"] == "9")
            #expect(try await simulator.gourmet(Simulator.spot, key: "key=another").status == 200)
            let area = "location=35.69,139.7&radius=500"
            for _ in 0..<2 { #expect(try await simulator.nearby(area).legacyStatus == "OK") }
            let legacy = try await simulator.nearby(area)
            #expect(legacy.status == 200 && legacy.legacyStatus == "OVER_QUERY_LIMIT")
            for _ in 0..<2 { #expect(try await simulator.search(.new, "x").status == 200) }
            let new = try await simulator.search(.new, "x")
            #expect(new.status == 429 && new.reasons == ["RATE_LIMIT_EXCEEDED"])
            #expect(new.text.contains("\"retryDelay\": \"9s\""))
            #expect((try await simulator.stats(.new)["outcomes"] as? [String: Int])?["over-quota"] == 1)
        }
    }

    @Test func requestsBeyondTheCapacityWaitForTheirTurn() async throws {
        try await Simulator.run({
            $0.profile.capacity = .init(concurrent: 2)
            $0.threads = 2
        }) { simulator in
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
            // An answer of another loop is counted a moment after it has arrived.
            try await eventually("all are counted") {
                let stats = try await simulator.stats(.hotpepper)
                return stats["beingServed"] as? Int == 0 && stats["waitingForTurn"] as? Int == 0
                    && stats["inFlight"] as? Int == 0
            }
            #expect(try await simulator.stats(.hotpepper)["maxInFlight"] as? Int == 8)
        }
    }

    @Test func requestGets503WhenTheQueueIsFull() async throws {
        try await Simulator.run({
            $0.profile.capacity = .init(concurrent: 1)
            $0.profile.capacity?.queue = 1
        }) { simulator in
            let first = try simulator.begin(.hotpepper, "fault:hang")
            try await eventually("the first is served") {
                try await simulator.stats(.hotpepper)["beingServed"] as? Int == 1
            }
            async let second = simulator.search(.hotpepper, "fault:none")
            try await eventually("the second waits") {
                try await simulator.stats(.hotpepper)["waitingForTurn"] as? Int == 1
            }
            #expect(try await simulator.search(.hotpepper, "fault:none tag:3").status == 503)
            first.hangUp()
            #expect(try await second.status == 200)
        }
    }

    /// Most servers finish requests whose clients have disconnected.
    @Test func requestOfAClientThatIsGoneSpendsItsTurn() async throws {
        try await Simulator.run({ $0.profile.capacity = .init(concurrent: 1) }) { simulator in
            let start = Instant.now
            let gone = try await simulator.search(.hotpepper, "fault:delay=700", patience: 0.1)
            #expect(gone.ending == .silent)
            try await eventually("it is counted") { try await simulator.stats(.hotpepper)["aborted"] as? Int == 1 }
            #expect(try await simulator.search(.hotpepper, "fault:none").status == 200)
            #expect(Instant.now - start >= .milliseconds(690))
        }
    }

    @Test func requestOfAClientThatIsGoneLeavesItsTurnWhenTheProfileSaysSo() async throws {
        try await Simulator.run({
            $0.profile.capacity = .init(concurrent: 1)
            $0.profile.capacity?.servesAbandoned = false
        }) { simulator in
            // The delay of ten minutes is longer than the test waits.
            let served = try simulator.begin(.hotpepper, "fault:delay=600000")
            try await eventually("one is served") {
                try await simulator.stats(.hotpepper)["beingServed"] as? Int == 1
            }
            let waiting = try simulator.begin(.hotpepper, "fault:none")
            try await eventually("one waits") { try await simulator.stats(.hotpepper)["waitingForTurn"] as? Int == 1 }
            // The second client disconnects while it waits, the first one while it is served.
            waiting.hangUp()
            try await eventually("one is counted") { try await simulator.stats(.hotpepper)["aborted"] as? Int == 1 }
            served.hangUp()
            try await eventually("both are counted") { try await simulator.stats(.hotpepper)["aborted"] as? Int == 2 }
            #expect(try await simulator.search(.hotpepper, "fault:none").status == 200)
            let stats = try await simulator.stats(.hotpepper)
            #expect(stats["beingServed"] as? Int == 0 && stats["waitingForTurn"] as? Int == 0)
        }
    }

    @Test func profilesChangeWhileTheSimulatorRuns() async throws {
        try await Simulator.run { simulator in
            #expect(try await simulator.configure("{\"apis\":[\"hotpepper\"],\"faults\":{\"503\":1}}").status == 200)
            #expect(try await simulator.gourmet(Simulator.spot).status == 503)
            #expect(try await simulator.nearby("location=35.69,139.7&radius=500").status == 200)
            // A fault in a request takes precedence.
            #expect(try await simulator.search(.hotpepper, "fault:404").status == 404)
            let change =
                "{\"faults\":null,\"latency\":\"120ms\",\"capacity\":3,\"quota\":{\"requestsPerSecond\":5,\"burst\":7}}"
            let answer = try await simulator.configure(change)
            let legacy = try #require(answer.object["google-places-legacy"] as? [String: Any])
            #expect(legacy["latency"] as? String == "120ms")
            #expect((legacy["capacity"] as? [String: Any])?["concurrent"] as? Int == 3)
            #expect((legacy["quota"] as? [String: Any])?["burst"] as? Int == 7)
            let slow = try await simulator.gourmet(Simulator.spot)
            #expect(slow.status == 200 && slow.seconds >= 0.11)
            let back = try await simulator.configure("{\"latency\":0,\"capacity\":null,\"quota\":null}")
            #expect((back.object["hotpepper"] as? [String: Any])?["capacity"] is NSNull)
        }
    }

    static let wrongChanges = [
        "", "[]", "{\"latenzy\":1}", "{\"latency\":-1}", "{\"latency\":\"soon\"}", "{\"faults\":{\"nonsense\":1}}",
        "{\"faults\":{\"503\":1.5}}", "{\"faults\":{\"503\":0.6,\"502\":0.6}}", "{\"capacity\":0}", "{\"capacity\":{}}",
        "{\"quota\":0}", "{\"quota\":{\"requestsPerSecond\":1,\"burst\":0}}", "{\"apis\":[\"other\"]}",
        "{\"quota\":{\"x\":1}}",
    ]
    @Test(arguments: wrongChanges)
    func wrongChangeIsRefusedAndChangesNothing(change: String) async throws {
        try await Simulator.run { simulator in
            let before = try await simulator.get("/_sim/config").text
            let answer = try await simulator.configure(change)
            #expect(answer.status == 400 && answer.object["error"] is String)
            #expect(try await simulator.get("/_sim/config").text == before)
        }
    }

    @Test func faultsComeInTheShareThatTheProfileSays() async throws {
        try await Simulator.run({ $0.profile.faults = ["503": 0.3, "UNKNOWN_ERROR": 0.2] }) { simulator in
            let port = simulator.port
            let statuses = try await blocking { () -> [String] in
                let client = try RawClient(port: port)
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
    }

    @Test func slidingWindowFindsTheFullestSecond() {
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

    @Test func secondsAreCountedOverGapsAndForHours() {
        var seconds = PerSecond()
        for second in [100, 100, 103] { seconds.count(second) }
        #expect(seconds.first == 100 && seconds.counts == [2, 0, 0, 1])
        for second in 104..<20_000 { seconds.count(second) }
        #expect(seconds.counts.count <= 7201 && seconds.counts.last == 1)
        #expect(seconds.first + seconds.counts.count == 20_000)
        seconds.count(90_000_000)
        #expect(seconds.first == 90_000_000 && seconds.counts == [1])
    }

    @Test(arguments: [
        ("80ms", "80ms"), ("0", "0s"), ("20ms..80ms", "20ms..80ms"), ("exp:100ms", "exp:100ms"), ("1.5s", "1500ms"),
        ("p50:80ms, p99:900ms", "p50:80ms,p99:900ms"), ("250us", "250us"), ("2m", "120s"),
    ])
    func latencyIsReadFromItsText(text: String, shown: String) {
        #expect(LatencyDistribution(text)?.text == shown)
    }

    @Test(arguments: ["", "x", "80", "-1ms", "80ms..20ms", "p50:80ms", "p50:80ms,p99:10ms", "exp:", "nan ms", "1e99s"])
    func textThatIsNoLatencyIsRefused(text: String) {
        #expect(LatencyDistribution(text) == nil)
    }

    @Test func samplesFollowTheirDistribution() {
        var numbers = HashStream(3)
        func sorted(_ text: String) -> [Int] {
            (0..<20_000).map { _ in LatencyDistribution(text)?.sample(&numbers) ?? -1 }.sorted()
        }
        let lognormal = sorted("p50:80ms,p99:900ms")
        #expect((76_000...84_000).contains(lognormal[10_000]))
        #expect((750_000...1_080_000).contains(lognormal[19_800]))
        let exponential = sorted("exp:100ms")
        #expect((95_000...105_000).contains(exponential.reduce(0, +) / 20_000))
        let uniform = sorted("20ms..80ms")
        #expect(uniform[0] >= 20_000 && uniform[19_999] <= 80_000)
        #expect((48_000...52_000).contains(uniform[10_000]))
    }

    @Test func simulatorNamesTheMemberOfAWrongConfiguration() {
        let cases: [(String, (inout SimulatorConfiguration) -> Void)] = [
            ("port", { $0.port = 70_000 }), ("threads", { $0.threads = 0 }), ("apiKey", { $0.apiKey = "" }),
            ("faults", { $0.profile.faults = ["nonsense": 0.1] }),
            ("capacity.concurrent", { $0.profile.capacity = .init(concurrent: 0) }),
            ("quota.requestsPerSecond", { $0.profile.quota = .init(requestsPerSecond: 0) }),
        ]
        for (member, change) in cases {
            var configuration = SimulatorConfiguration()
            change(&configuration)
            let error = #expect(throws: SimulatorError.self) { _ = try SimulatorServer(configuration) }
            guard case .invalidConfiguration(member, _)? = error else {
                Issue.record("\(member): \(String(describing: error))")
                continue
            }
        }
    }

    /// The control endpoint and the APIs accept numbers from any client; none of them may end the simulator.
    @Test(arguments: ["-1e300", "1e300", "9223372036854775807", "-9223372036854775808", "0.5", "1e-320"])
    func simulatorOutlivesAnyNumber(number: String) async throws {
        try await Simulator.run { simulator in
            for body in [
                #"{"quota":\#(number)}"#,
                #"{"quota":{"requestsPerSecond":\#(number),"burst":\#(number),"retryAfter":\#(number)}}"#,
                #"{"capacity":\#(number)}"#, #"{"capacity":{"concurrent":\#(number),"queue":\#(number)}}"#,
                #"{"latency":\#(number)}"#, #"{"latency":"\#(number)s"}"#, #"{"latency":"1ms..\#(number)s"}"#,
                #"{"faults":{"503":\#(number)}}"#,
            ] {
                #expect([200, 400].contains(try await simulator.configure(body).status), "\(body)")
            }
            _ = try await simulator.configure(#"{"quota":null,"capacity":null,"latency":0,"faults":null}"#)
            #expect(try await simulator.get("/_sim/log?last=\(number)").status == 200)

            for body in [
                #"{"textQuery":"x","pageSize":"\#(number)"}"#, #"{"textQuery":"x","minRating":\#(number)}"#,
                #"{"textQuery":"x","maxResultCount":\#(number)}"#,
                #"{"textQuery":"x","locationBias":{"circle":{"center":{"latitude":\#(number)},"radius":\#(number)}}}"#,
            ] {
                #expect([200, 400].contains(try await simulator.new("searchText", body).status), "\(body)")
            }
            for parameters in [
                "location=\(number),\(number)&radius=\(number)", "location=1,1&radius=\(number)&minprice=\(number)",
                "location=1,1&radius=\(number)&maxprice=\(number)",
            ] {
                #expect(try await simulator.nearby(parameters).status == 200, "\(parameters)")
            }
            for parameters in [
                "lat=\(number)&lng=\(number)&range=\(number)", "lat=35&lng=139&start=\(number)&count=\(number)",
                "lat=35&lng=139&party_capacity=\(number)",
            ] {
                #expect(try await simulator.gourmet(parameters).status == 200, "\(parameters)")
            }
        }
    }

    /// The seed is no secret, so a token may contain any numbers.
    @Test func pageTokenOfAnImpossibleSearchIsDamaged() {
        func read(_ change: (inout LegacySearch) -> Void) -> Bool {
            var search = LegacySearch()
            (search.latitude, search.longitude, search.radius) = (35, 139, 500)
            change(&search)
            let reading = LegacySearch.read(search.token(seed: 1, now: 0), seed: 1, now: 1, delay: .zero)
            if case .search = reading { return true }
            return false
        }
        #expect(read { $0.offset = 40 })
        #expect(!read { $0.offset = .max })
        #expect(!read { $0.offset = -1 })
        #expect(!read { $0.latitude = .nan })
        #expect(!read { $0.longitude = 1e300 })
        #expect(!read { $0.radius = -1 })
        #expect(!read { $0.radius = .infinity })
    }
}
