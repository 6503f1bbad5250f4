import EventContract
import TestSupport
import Testing

@testable import Console

/// What goes by: outcomes, rates, workers.
struct TrafficTests {
    private static func record(_ number: Int, code: String? = nil, bytes: Int = 0) -> OutcomeRecord {
        let padding = String(repeating: "x", count: bytes)
        let error = code.map { #","error":{"code":"\#($0)","message":"no","retryable":false}"# } ?? ""
        let value =
            #"{"requestId":"r\#(number)","operation":"search","places":[],"padding":"\#(padding)"\#(error),"#
            + #""timing":{"receivedAt":"2026-11-21T09:30:00.000Z","completedAt":"2026-11-21T09:30:00.\#(100 + number % 900)Z"}}"#
        return OutcomeRecord(
            position: SourcePosition(topic: "results", partition: 3, offset: Int64(number)), key: Array("k".utf8),
            value: Array(value.utf8), headers: [EventHeader("ce_id", text: "results-3-\(number)")])
    }

    private static func ids(_ client: EventStreamClient) -> [String] {
        client.events.filter { $0.name == "outcomes" }.flatMap { event in
            (event.json["outcomes"] as? [[String: Any]] ?? []).compactMap { $0["requestId"] as? String }
        }
    }

    @Test func pageThatWasAwayGetsWhatItMissedOnce() async throws {
        let console = try await RunningConsole()
        console.traffic.add((1...3).map { Self.record($0) }, areNew: true)
        let first = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        let seen = try await first.waitFor("three outcomes") { $0.name == "outcomes" && $0.data.contains("\"r3\"") }
        #expect(Self.ids(first) == ["r1", "r2", "r3"])

        console.traffic.add((4...5).map { Self.record($0) }, areNew: true)
        let second = try EventStreamClient(port: console.port, path: "/api/traffic/events", lastEventID: seen.id)
        try await second.waitFor("the two it missed") { $0.data.contains("\"r5\"") }
        #expect(Self.ids(second) == ["r4", "r5"])
        await console.stop()
    }

    @Test func pageHearsHowManyOutcomesWereForgottenWhileItWasAway() {
        var log = OutcomeLog(firstID: 1000, mostEntries: 10)
        for number in 1...30 { log.append(Self.record(number)) }

        let batch = log.entries(after: 1004, limit: 100)
        #expect(batch.entries.map(\.id) == Array(1020...1029))
        #expect(batch.missed == 15)
        #expect(log.entries(after: 999, limit: 100).missed == 20)
        #expect(log.entries(after: 5, limit: 100).missed == 0, "nobody knows what an earlier run held")
        #expect(log.entries(after: 1029, limit: 100).entries.isEmpty)
        #expect(log[1019] == nil)
        #expect(log[1020] != nil)
        #expect(log[1030] == nil)
    }

    @Test func logForgetsTheOldestWhenItsBytesAreTooMany() {
        var log = OutcomeLog(firstID: 0, mostEntries: 1000, mostBytes: 1_000_000)
        for number in 0..<100 { log.append(Self.record(number, bytes: 50_000)) }

        let kept = log.entries(after: -1, limit: 1000).entries
        #expect((5...10).contains(kept.count), "\(kept.count)")
        #expect(kept.last?.id == 99)
    }

    @Test func ratesTellEachSecondAndItsPercentiles() throws {
        var rates = OutcomeRates(now: EventTime(milliseconds: 10_000))
        for number in 0..<100 { rates.add(Self.record(number, code: number < 20 ? "timeout" : nil)) }
        let isOverEarly = rates.advance(to: EventTime(milliseconds: 10_999))
        let isOver = rates.advance(to: EventTime(milliseconds: 13_000))
        #expect(!isOverEarly)
        #expect(isOver)

        #expect(Array(rates.seconds).map(\.time) == [10, 11, 12])
        let second = try #require(Array(rates.seconds).first)
        #expect((second.completed, second.failed) == (80, 20))
        let latency = try #require(second.latency)
        #expect([latency.p50, latency.p95, latency.p99] == [149, 194, 198])
        #expect(Array(rates.seconds)[1].latency == nil)
    }

    @Test func ratesKeepFiveMinutesAfterAnyPause() {
        var rates = OutcomeRates(now: EventTime(milliseconds: 0))
        _ = rates.advance(to: EventTime(milliseconds: 86_400_000))
        #expect(Array(rates.seconds).count == OutcomeRates.mostSeconds)
        #expect(Array(rates.seconds).last?.time == 86_399)
    }

    @Test func detailsShowHeadersAndBodyWhateverTheyAre() async throws {
        let console = try await RunningConsole()
        let broken = OutcomeRecord(
            position: SourcePosition(topic: "errors", partition: 0, offset: 7), key: nil, value: Array("<script>".utf8),
            headers: [EventHeader("h", text: "v")])
        console.traffic.add([Self.record(1), broken], areNew: true)
        let page = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        let last = try #require(try await page.waitFor("both") { $0.name == "outcomes" }.id)

        let text = try await console.get("/api/traffic/outcomes/\(last)")
        #expect(text.json["valueText"] as? String == "<script>")
        #expect(text.json["headers"] as? [[String]] == [["h", "v"]])
        #expect(text.headers["content-type"] == "application/json; charset=utf-8")
        let json = try await console.get("/api/traffic/outcomes/\(last - 1)")
        #expect((json.json["value"] as? [String: Any])?["requestId"] as? String == "r1")
        #expect(try await console.get("/api/traffic/outcomes/\(last + 1)").status == 404)
        #expect(try await console.get("/api/traffic/outcomes/x").status == 404)
        await console.stop()
    }

    @Test func pageHearsOfWorkersWhenTheySaySomethingElse() async throws {
        let console = try await RunningConsole()
        let page = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        try await eventually("somebody looks") { console.traffic.isWatched }

        console.traffic.update([
            WorkerReport(url: "http://a", status: Array("{\"ready\":true}\n".utf8)),
            WorkerReport(url: "http://b", problem: "nobody answers"),
        ])
        let event = try await page.waitFor("the workers") { $0.name == "workers" }
        let workers = try #require(event.json["workers"] as? [[String: Any]])
        #expect((workers[0]["status"] as? [String: Any])?["ready"] as? Bool == true)
        #expect(workers[1]["reachable"] as? Bool == false)
        #expect(workers[1]["problem"] as? String == "nobody answers")
        await console.stop()
    }
}
