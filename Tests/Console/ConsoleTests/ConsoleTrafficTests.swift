import EventContract
import JSON
import TestSupport
import Testing

@testable import Console

/// The traffic page: outcomes, rates, workers.
struct ConsoleTrafficTests {
    /// Returns an outcome after 100 ms and as many more as its number.
    private static func record(_ number: Int, code: String? = nil, bytes: Int = 0) -> OutcomeRecord {
        timed(number, received: 0, completed: 100 + Int64(number) % 900, code: code, bytes: bytes)
    }

    private static func ids(_ client: EventStreamClient) -> [String] {
        client.events.filter { $0.name == "outcomes" }.flatMap { event in
            (event.json["outcomes"] as? [[String: Any]] ?? []).compactMap { $0["requestId"] as? String }
        }
    }

    /// The id of the last outcome in an event.
    private static func lastID(_ event: EventStreamClient.Event) throws -> Int {
        try #require((event.json["outcomes"] as? [[String: Any]])?.last?["id"] as? Int)
    }

    @Test func `A page that reconnects gets the missed outcomes once`() async throws {
        let console = try await RunningConsole()
        console.traffic.add((1...3).map { Self.record($0) }, areNew: true)
        let first = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        let seen = try await first.waitFor("three outcomes") { $0.name == "outcomes" && $0.data.contains("\"r3\"") }
        #expect(Self.ids(first) == ["r1", "r2", "r3"])

        console.traffic.add((4...5).map { Self.record($0) }, areNew: true)
        let path = "/api/traffic/events?after=\(try Self.lastID(seen))"
        let second = try EventStreamClient(port: console.port, path: path)
        try await second.waitFor("the two it missed") { $0.data.contains("\"r5\"") }
        #expect(Self.ids(second) == ["r4", "r5"])
    }

    @Test func `A page that reconnects gets the outcomes that are still kept`() {
        var log = OutcomeLog(firstID: 1000, mostEntries: 10)
        for number in 1...30 { log.append(Self.record(number)) }

        #expect(log.entries(after: 1004, limit: 100).map(\.id) == Array(1020...1029))
        #expect(log.entries(after: 1025, limit: 2).map(\.id) == [1026, 1027])
        #expect(log.entries(after: 5, limit: 1).map(\.id) == [1020], "an id of an earlier run")
        #expect(log.entries(after: 1029, limit: 100).isEmpty)
        #expect(log[1019] == nil)
        #expect(log[1020] != nil)
        #expect(log[1030] == nil)
    }

    @Test func `The log drops its oldest outcomes when it has too many bytes`() {
        var log = OutcomeLog(firstID: 0, mostEntries: 1000, mostBytes: 1_000_000)
        for number in 0..<100 { log.append(Self.record(number, bytes: 50_000)) }

        let kept = log.entries(after: -1, limit: 1000)
        #expect((5...10).contains(kept.count), "\(kept.count)")
        #expect(kept.last?.id == 99)
    }

    @Test func `The rates have each second with its percentiles`() throws {
        var rates = OutcomeRates(now: WallTime(milliseconds: 10_000))
        for number in 0..<100 { rates.add(Self.record(number, code: number < 20 ? "timeout" : nil)) }
        let isOverEarly = rates.advance(to: WallTime(milliseconds: 10_999))
        let isOver = rates.advance(to: WallTime(milliseconds: 13_000))
        #expect(!isOverEarly)
        #expect(isOver)

        #expect(Array(rates.seconds).map(\.time) == [10, 11, 12])
        let second = try #require(Array(rates.seconds).first)
        #expect((second.completed, second.failed) == (80, 20))
        let latency = try #require(second.latency)
        #expect([latency.p50, latency.p95, latency.p99] == [159, 195, 199], "errors do not count")
        #expect(Array(rates.seconds)[1].latency == nil)
    }

    @Test func `Immediate errors do not lower the latency`() throws {
        var rates = OutcomeRates(now: WallTime(milliseconds: 0))
        for number in 0..<10 { rates.add(Self.timed(number, received: 0, completed: 900)) }
        for number in 10..<30 { rates.add(Self.timed(number, received: 0, completed: 0, code: "circuit-open")) }
        rates.add(Self.timed(30, received: 0, completed: 0, code: "timeout"))
        _ = rates.advance(to: WallTime(milliseconds: 2_000))

        let second = try #require(Array(rates.seconds).first)
        #expect((second.completed, second.failed) == (10, 21))
        #expect(second.latency?.p50 == 900)
    }

    /// Returns an outcome with times in milliseconds since 1970.
    private static func timed(
        _ number: Int, requested: Int64? = nil, received: Int64, completed: Int64, code: String? = nil,
        bytes: Int = 0, now: Int64 = .max
    ) -> OutcomeRecord {
        let error = code.map { #","error":{"code":"\#($0)","message":"no","retryable":false}"# } ?? ""
        let padding = String(repeating: "x", count: bytes)
        let times = [received, completed].map { WallTime(milliseconds: $0).description }
        let value =
            #"{"requestId":"r\#(number)","operation":"search","places":[]\#(error),"padding":"\#(padding)","#
            + #""timing":{"receivedAt":"\#(times[0])","completedAt":"\#(times[1])"}}"#
        return OutcomeRecord(
            position: SourcePosition(topic: "results", partition: 0, offset: Int64(number)), key: nil,
            value: Array(value.utf8),
            headers: [
                RecordHeader("source-topic", text: "requests"), RecordHeader("source-partition", text: "2"),
                RecordHeader("source-offset", text: "\(number)"),
            ],
            now: WallTime(milliseconds: now)
        ) { position in
            position == SourcePosition(topic: "requests", partition: 2, offset: Int64(number))
                ? requested.map { WallTime(milliseconds: $0) } : nil
        }
    }

    @Test func `The time that a request waited is beside the time that it took`() {
        let seen = Self.timed(1, requested: 1_000, received: 77_000, completed: 77_041)
        #expect(seen.waitedMilliseconds == 76_000)
        #expect(seen.workedMilliseconds == 41)
        #expect(seen.tookMilliseconds == 76_041)

        let unseen = Self.timed(1, received: 77_000, completed: 77_041)
        #expect(unseen.waitedMilliseconds == nil)
        #expect(unseen.tookMilliseconds == 41)
        let row = String(decoding: TrafficJSON.row(of: seen, id: 1), as: UTF8.self)
        #expect(row.contains(#""waitedMs":76000,"workedMs":41,"tookMs":76041"#), "\(row)")
    }

    @Test(arguments: [Int64.min, -1, 0, .max]) func `A timestamp of any size is a valid time`(timestamp: Int64) {
        for other in [Int64.min, 0, .max] {
            let record = Self.timed(1, requested: timestamp, received: other, completed: timestamp, now: other)
            #expect(record.waitedMilliseconds ?? 0 >= 0)
            #expect(record.tookMilliseconds ?? 0 >= 0)
            #expect(record.time <= WallTime(milliseconds: other), "no record lies ahead")
        }
    }

    @Test func `The history is ordered by time, across partitions`() async throws {
        let console = try await RunningConsole()
        let times: [Int64] = [5_000, 7_000, 9_000, 4_000, 6_000, 8_000]
        console.traffic.addHistory(
            times.enumerated().map { Self.timed($0.offset, received: $0.element, completed: $0.element) })
        let page = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        try await page.waitFor("the history") { $0.name == "outcomes" }

        #expect(Self.ids(page) == ["r3", "r0", "r4", "r1", "r5", "r2"])
    }

    @Test(
        arguments: [
            [0xEF, 0xBB, 0xBF] + Array(#"{"requestId":"r1","a":[1]}"#.utf8),
            Array(#"{"requestId":"r1","a":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8),
            Array("{\"requestId\":\"r1\",\"a\":\"line\nbreak\"}".utf8), Array(#"{"requestId":"r1","a":"\ud800"}"#.utf8),
            [0xEF, 0xBB, 0xBF], [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + Array("{}".utf8),
        ] as [[UInt8]])
    func `The details of any record are valid JSON`(value: [UInt8]) throws {
        let record = OutcomeRecord(
            position: SourcePosition(topic: "results", partition: 0, offset: 7), key: [0xFF], value: value,
            headers: [RecordHeader("h", [0xEF, 0xBB, 0xBF])])
        let details = TrafficJSON.details(of: record, by: .standard)

        #expect(String(validating: details, as: UTF8.self) != nil)
        var reader = JSONReader(details.span)
        try reader.skip()
        try reader.finish()
        #expect(!details.dropFirst().contains(0x0A), "a raw line break in a string is no JSON")
        #expect(!String(decoding: details, as: UTF8.self).contains(#""value":\u{FEFF}"#))
    }

    @Test func `The rates keep five minutes after any pause`() {
        var rates = OutcomeRates(now: WallTime(milliseconds: 0))
        _ = rates.advance(to: WallTime(milliseconds: 86_400_000))
        #expect(Array(rates.seconds).count == OutcomeRates.mostSeconds)
        #expect(Array(rates.seconds).last?.time == 86_399)
    }

    @Test func `The details show any headers and any body`() async throws {
        let console = try await RunningConsole()
        let broken = OutcomeRecord(
            position: SourcePosition(topic: "errors", partition: 0, offset: 7), key: nil, value: Array("<script>".utf8),
            headers: [RecordHeader("h", text: "v")])
        console.traffic.add([Self.record(1), broken], areNew: true)
        let page = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        let last = try Self.lastID(try await page.waitFor("both") { $0.name == "outcomes" })

        let text = try await console.get("/api/traffic/outcomes/\(last)")
        #expect(text.json["value"] as? String == "<script>")
        #expect(text.json["headers"] as? [[String: String]] == [["name": "h", "value": "v"]])
        #expect(text.headers["content-type"] == "application/json; charset=utf-8")
        let json = try await console.get("/api/traffic/outcomes/\(last - 1)")
        #expect((json.json["value"] as? String)?.contains(#""requestId":"r1""#) == true)
        #expect(try await console.get("/api/traffic/outcomes/\(last + 1)").status == 404)
        #expect(try await console.get("/api/traffic/outcomes/x").status == 404)
    }

    @Test func `A page receives the changed status of workers`() async throws {
        let console = try await RunningConsole()
        let page = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        try await eventually("somebody looks") { console.pipeline.isWatched }

        console.traffic.update([
            WorkerReport(url: "http://a", status: Array("{\"ready\":true}\n".utf8)),
            WorkerReport(url: "http://b", problem: "nobody answers"),
        ])
        let event = try await page.waitFor("the workers") { $0.name == "workers" }
        let workers = try #require(event.json["workers"] as? [[String: Any]])
        #expect((workers[0]["status"] as? [String: Any])?["ready"] as? Bool == true)
        #expect(workers[1]["reachable"] as? Bool == false)
        #expect(workers[1]["problem"] as? String == "nobody answers")
    }

    /// The number comes from a URL.
    @Test(arguments: [Int.max, Int.max - 1, 1 << 60, -1, Int.min + 1, Int.min])
    func `A page may name any outcome as its last`(after: Int) async throws {
        let console = try await RunningConsole()
        console.traffic.add((1...3).map { Self.record($0) }, areNew: true)
        let page = try EventStreamClient(port: console.port, path: "/api/traffic/events?after=\(after)")
        try await page.waitFor("three outcomes") { $0.name == "outcomes" && $0.data.contains("\"r3\"") }
        #expect(Self.ids(page) == ["r1", "r2", "r3"])

        #expect(try await console.get("/api/traffic/outcomes/\(after)").status == 404)
        #expect(try await console.get("/api/dead-letters?limit=\(after)").status == 200)
    }
}
