import Console
import EventContract
import Foundation
import HTTPServing
import Testing

/// The health of the pipeline, as reported to pages and programs.
struct PipelineTests {
    private static func backlog(
        members: Int?, waiting: Int64 = 0, isProgressing: Bool = false, state: String? = nil
    ) -> GroupBacklog {
        var backlog = GroupBacklog(
            group: "g", topic: "t", time: .now(),
            partitions: [.init(number: 0, committed: 0, end: waiting, lag: waiting, waiting: waiting)])
        backlog.members = members.map { Array(repeating: "pod at 10.0.0.1", count: $0) }
        backlog.rates = .init(window: .seconds(60), arrived: 0, finished: 0)
        backlog.isProgressing = isProgressing
        backlog.state = state
        return backlog
    }

    private static func workers(
        _ answering: Int, ready: Int = 0, areNamed: Bool = true, reading partitions: Set<Int32>? = nil,
        _ change: (inout PipelineReport.Workers) -> Void = { _ in }
    ) -> PipelineReport.Workers {
        var workers = PipelineReport.Workers(
            areNamed: areNamed, asked: 2, answering: answering, ready: ready, problem: "no quota is left")
        workers.partitions = partitions.map { $0.isEmpty ? [:] : ["t": $0] }
        change(&workers)
        return workers
    }

    private static let verdicts: [(PipelineReport, PipelineReport.Verdict)] = [
        (PipelineReport(), .unknown),
        (
            PipelineReport(backlog: backlog(members: 3), brokersProblem: "timed out", workers: workers(2, ready: 2)),
            .brokersAway
        ),
        (PipelineReport(groupProblem: "not allowed"), .unknown),
        (PipelineReport(groupProblem: "not allowed", workers: workers(2, ready: 1)), .working),
        (PipelineReport(backlog: backlog(members: 0), workers: workers(0)), .noWorker),
        (PipelineReport(backlog: backlog(members: 0)), .noWorker),
        (PipelineReport(backlog: backlog(members: 0), workers: workers(1)), .workersNotReady),
        (PipelineReport(backlog: backlog(members: 3), workers: workers(1)), .workersNotReady),
        (PipelineReport(backlog: backlog(members: 3), workers: workers(1, ready: 1)), .working),
        // Workers whose admin endpoints are unreachable from the console may still work.
        (PipelineReport(backlog: backlog(members: 3), workers: workers(0)), .working),
        (PipelineReport(backlog: backlog(members: 3, waiting: 5, isProgressing: true), workers: workers(0)), .working),
        (
            PipelineReport(backlog: backlog(members: nil, waiting: 5, isProgressing: true), workers: workers(0)),
            .working
        ),
        // A group keeps a killed worker as its member for a while.
        (PipelineReport(backlog: backlog(members: 3, waiting: 5), workers: workers(0)), .noWorker),
        (PipelineReport(backlog: backlog(members: 3, waiting: 5), workers: workers(0, areNamed: false)), .working),
        (PipelineReport(backlog: backlog(members: nil), workers: workers(0)), .noWorker),
        (PipelineReport(backlog: backlog(members: nil), workers: workers(0, areNamed: false)), .unknown),
        (PipelineReport(backlog: backlog(members: nil)), .unknown),
        (PipelineReport(workers: workers(2, ready: 1) { $0.errors = "no provider is available" }), .answersWithErrors),
        (PipelineReport(workers: workers(2) { $0.errors = "no provider is available" }), .workersNotReady),
        (
            PipelineReport(workers: workers(2, ready: 2) { $0.outcomes = ends("ok", 50, "timeout", 50) }),
            .answersWithErrors
        ),
        (PipelineReport(workers: workers(2, ready: 2) { $0.outcomes = ends("ok", 51, "timeout", 48) }), .working),
        (PipelineReport(workers: workers(2, ready: 2) { $0.outcomes = ends("ok", 1, "not-found", 99) }), .working),
        // The only partition of the topic is 0.
        (PipelineReport(backlog: backlog(members: 3), workers: workers(2, ready: 2, reading: [0])), .working),
        (PipelineReport(backlog: backlog(members: 3), workers: workers(2, ready: 2, reading: [1])), .partitionsUnread),
        (PipelineReport(backlog: backlog(members: 3), workers: workers(2, ready: 2, reading: [])), .working),
        (
            PipelineReport(
                backlog: backlog(members: 3, state: "PreparingRebalance"), workers: workers(2, ready: 2, reading: [1])),
            .working
        ),
        // Brokers may describe a group without members in this way.
        (
            PipelineReport(backlog: backlog(members: 0, state: "Dead"), workers: workers(2, ready: 2, reading: [1])),
            .partitionsUnread
        ),
    ]

    private static func ends(_ first: String, _ count: Int, _ second: String, _ other: Int) -> RecentEnds {
        RecentEnds(seconds: 60, counts: [first: count, second: other])
    }

    @Test(
        arguments: [
            (["ok": 100], 0, nil, false), ([:], 0, nil, false), (["ok": 999, "timeout": 1], 1, "timeout", false),
            (["timeout": 2], 100, "timeout", false), (["timeout": 2, "unauthorized": 1], 100, "timeout", true),
            (["ok": 3, "unreachable": 1, "timeout": 2], 50, "timeout", true),
            (["invalid-request": 5, "superseded": 5, "not-found": 5], 0, nil, false),
            (["ok": .max, "timeout": .max], 100, "timeout", true), (["ok": -5, "timeout": 3], 100, "timeout", true),
        ] as [([String: Int], Int, String?, Bool)])
    func `The share of failures leaves out what clients cause`(
        counts: [String: Int], percent: Int, code: String?, areFailing: Bool
    ) {
        let ends = RecentEnds(seconds: 60, counts: counts)
        #expect(ends.failedPercent == percent)
        #expect(ends.mainCode == code)
        #expect(ends.areFailing == areFailing)
    }

    @Test func `The worst state of a provider in any worker counts`() throws {
        let reports = #"""
            [{"provider":"a","breaker":"closed","lastCalls":{"seconds":60,"counts":{"ok":8}}},
            {"provider":"b","breaker":"half-open","breakerReason":"failure-rate"},
            {"provider":"b","breaker":"open","breakerReason":"key-refused","openForSeconds":90.5},
            {"provider":"a","breaker":"closed","lastCalls":{"seconds":30,"counts":{"ok":1,"timeout":1}}},
            {"provider":"b","breaker":"open","breakerReason":"key-refused"}]
            """#
        let providers = PipelineReport.Provider.combine(
            try JSONDecoder().decode([PipelineReport.Provider].self, from: Data(reports.utf8)))
        #expect(providers.map(\.name) == ["b", "a"], "those in trouble come first")
        #expect(providers.map(\.state) == ["open", "closed"])
        #expect(providers.map(\.workers) == [2, 2])
        #expect(providers[0].reason == "key-refused" && providers[0].secondsLeft == 90.5)
        #expect(providers[1].calls == RecentEnds(seconds: 60, counts: ["ok": 9, "timeout": 1]))
        #expect(providers.map(\.isInTrouble) == [true, false])
    }

    @Test(arguments: verdicts)
    func `The verdict follows from the known facts`(report: PipelineReport, verdict: PipelineReport.Verdict) {
        #expect(report.verdict == verdict)
    }

    @Test func `Both views receive each change`() async throws {
        let console = try await RunningConsole()
        let traffic = try EventStreamClient(port: console.port, path: "/api/traffic/events")
        let search = try EventStreamClient(port: console.port, path: "/api/sessions/s/events")
        try await search.waitFor("the session's state") { $0.name == "state" }
        #expect(!search.events.contains { $0.name == "pipeline" }, "nothing is known yet")

        console.pipeline.update { $0.backlog = Self.backlog(members: 0, waiting: 7) }
        let whole = try await traffic.waitFor("the report") { $0.name == "pipeline" }
        let totals = try await search.waitFor("the report") { $0.name == "pipeline" }
        for event in [whole, totals] {
            #expect(event.json["verdict"] as? String == "no-worker")
            #expect((event.json["backlog"] as? [String: Any])?["waiting"] as? Int == 7)
        }
        #expect((whole.json["backlog"] as? [String: Any])?["partitions"] != nil)
        #expect((totals.json["backlog"] as? [String: Any])?["partitions"] == nil)

        console.pipeline.update { $0.brokersProblem = "no broker answers at a:1" }
        let away = try await search.waitFor("the brokers' absence") { $0.data.contains("brokers-away") }
        #expect(away.json["problem"] as? String == "no broker answers at a:1")
    }

    @Test func `The metrics need the token`() async throws {
        let console = try await RunningConsole { $0.token = BearerToken("a-token-of-the-console") }
        #expect(try await console.get("/metrics").status == 401)
        let shown = ["Authorization": "Bearer a-token-of-the-console"]
        let metrics = try await console.get("/metrics", headers: shown)

        #expect(metrics.status == 200)
        #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(metrics.body.contains("locsearch_group_readable"))
    }
}
