import Console
import EventContract
import Observability
import TestSupport
import Testing

@testable import locsearch

/// The metrics of a console.
struct PipelineMetricsTests {
    private static func report() -> PipelineReport {
        let now = WallTime.now()
        var backlog = GroupBacklog(
            group: "g", topic: "t", time: now,
            partitions: [
                .init(
                    number: 0, committed: 5, end: 20, lag: 15, doneBeyond: 2, waiting: 13,
                    oldest: WallTime(milliseconds: now.milliseconds - 90_000)),
                .init(number: 1, end: 0, waiting: 0),
            ])
        backlog.members = ["pod-1 at 10.0.0.1"]
        backlog.rates = .init(window: .seconds(60), arrived: 2, finished: 0.5)
        return PipelineReport(backlog: backlog)
    }

    @Test func `The console's metrics are those of the reference`() {
        let metrics = PrometheusDocument(PipelineMetrics.text(of: Self.report()))
        #expect(metrics.problems.isEmpty, "\(metrics.problems)")
        for metric in MetricDescription.all where metric.section == .console {
            #expect(metrics.families[metric.name]?.kind == metric.kind.rawValue, "\(metric.name)")
            let labels = Set(metrics.families[metric.name]?.samples.flatMap(\.labels.keys) ?? [])
            #expect(labels == Set(metric.labels), "\(metric.name)")
        }

        #expect(metrics.total("locsearch_group_waiting") == 13)
        #expect(metrics.total("locsearch_group_lag") == 15)
        #expect(
            metrics.value("locsearch_group_oldest_waiting_seconds", ["group": "g", "topic": "t", "partition": "0"])
                == 90)
        #expect(
            metrics.value("locsearch_group_oldest_waiting_seconds", ["group": "g", "topic": "t", "partition": "1"]) == 0
        )
        #expect(metrics.value("locsearch_group_work_off_seconds", ["group": "g"]) == 26)
    }

    @Test func `A group without progress has an infinite time to finish`() {
        var report = Self.report()
        report.backlog?.rates = .init(window: .seconds(60), arrived: 2, finished: 0)
        #expect(PipelineMetrics.text(of: report).contains("locsearch_group_work_off_seconds{group=\"g\"} +Inf\n"))
    }

    @Test(
        arguments: [
            (
                ["pod-1 at 10.0.0.1", "pod-2 at 10.0.0.2", "pod-1 at 10.0.0.1"],
                "Stable, 3 members: pod-1 at 10.0.0.1 (2 members), pod-2"
            ),
            (["", ""], "Stable, 2 members"), ([], "Stable, no member"),
        ] as [([String], String)])
    func `Each member is named once`(members: [String], words: String) throws {
        var report = Self.report()
        report.backlog?.members = members
        report.backlog?.state = "Stable"
        let line = try #require(StatusText.lines(of: report, workers: []).first { $0.hasPrefix("group") })
        #expect(line.contains(words) && !line.hasSuffix(": "), "\(line)")
    }

    @Test func `Old readings are not shown once the brokers are away`() {
        var report = Self.report()
        report.brokersProblem = "no broker answers"
        let text = PipelineMetrics.text(of: report)
        #expect(text.contains("locsearch_group_readable 0\n"))
        #expect(!text.contains("locsearch_group_waiting"))
    }
}
