import Console
import Kafka
import Observability

/// Writes the metrics of a console: the state of the workers' consumer group. They are available even if no worker
/// runs.
enum PipelineMetrics {
    static func text(of report: PipelineReport) -> String {
        let isReadable = report.backlog != nil && report.brokersProblem == nil && report.groupProblem == nil
        // Values read before the brokers became unreachable are outdated, so they are not published.
        let group = isReadable ? report.backlog.map { text(of: $0, workOff: report.workOff) } ?? "" : ""
        return PrometheusText.family("locsearch_group_readable", isReadable ? 1 : 0) + group
            + PrometheusText.family(
                "locsearch_build_info",
                [(labels: [("version", Version.current), ("librdkafka", "\(LibraryVersion.running)")], value: 1)])
            + ProcessMetrics.prometheusText
    }

    private static func text(of backlog: GroupBacklog, workOff: GroupBacklog.WorkOff) -> String {
        func partitions(_ name: String, _ value: (GroupBacklog.Partition) -> Double?) -> String {
            PrometheusText.family(
                name,
                backlog.partitions.compactMap { partition in
                    value(partition).map { value in
                        (
                            labels: [
                                ("group", backlog.group), ("topic", partition.topic ?? backlog.topic),
                                ("partition", "\(partition.number)"),
                            ], value: value
                        )
                    }
                })
        }
        func figure(_ name: String, _ value: Double?) -> String {
            value.map { PrometheusText.family(name, [(labels: [("group", backlog.group)], value: $0)]) } ?? ""
        }
        let workOffSeconds: Double? =
            switch workOff {
            case .unknown: nil
            case .time(let time): time.inSeconds
            case .never: .infinity
            }

        return partitions("locsearch_group_lag") { $0.lag.map { Double($0) } }
            + partitions("locsearch_group_waiting") { $0.waiting.map { Double($0) } }
            + partitions("locsearch_group_oldest_waiting_seconds") {
                backlog.age(of: $0)?.inSeconds ?? ($0.waiting == 0 ? 0 : nil)
            }
            + figure("locsearch_group_members", backlog.members.map { Double($0.count) })
            + figure("locsearch_group_arrivals_per_second", backlog.rates?.arrived)
            + figure("locsearch_group_completions_per_second", backlog.rates?.finished)
            + figure("locsearch_group_work_off_seconds", workOffSeconds)
    }
}
