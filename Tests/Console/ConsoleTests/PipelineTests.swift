import Console
import EventContract
import HTTPServing
import Testing

/// The health of the pipeline, as reported to pages and programs.
struct PipelineTests {
    private static func backlog(members: Int?, waiting: Int64 = 0, isProgressing: Bool = false) -> GroupBacklog {
        var backlog = GroupBacklog(
            group: "g", topic: "t", time: .now(),
            partitions: [.init(number: 0, committed: 0, end: waiting, lag: waiting, waiting: waiting)])
        backlog.members = members.map { Array(repeating: "pod at 10.0.0.1", count: $0) }
        backlog.rates = .init(window: .seconds(60), arrived: 0, finished: 0)
        backlog.isProgressing = isProgressing
        return backlog
    }

    private static func workers(_ answering: Int, ready: Int = 0, areNamed: Bool = true) -> PipelineReport.Workers {
        .init(areNamed: areNamed, asked: 2, answering: answering, ready: ready, problem: "no quota is left")
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
    ]

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
