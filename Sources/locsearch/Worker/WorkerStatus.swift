import AdminServer
import JSON
import Kafka
import Observability
import WorkerRuntime

/// What a worker shows on its admin port.
struct WorkerStatus: AdminSource {
    let worker: WorkerProcess
    let registry: MetricsRegistry

    func livenessProblem() async -> String? { nil }

    func readinessProblem() async -> String? {
        let lanes = await worker.statuses()
        if lanes.contains(where: \.isDraining) { return "draining" }
        if lanes.contains(where: \.brokersAreDown) { return "no broker answers" }
        // Not at once: a rebalance may take as long.
        if let overdue = Self.commitOverdue(lanes), overdue >= .seconds(1) { return "offsets are not committed" }
        if lanes.allSatisfy(\.positions.isEmpty) { return "no partitions assigned yet" }
        return ProviderSummary.problem(
            of: ProviderSummary.all(await worker.providerStatuses()), automatic: worker.automaticProviders)
    }

    /// Of the lane that has waited longest; `nil`: none does.
    private static func commitOverdue(_ lanes: [LaneStatus]) -> Duration? { lanes.compactMap(\.commitOverdue).max() }

    func metrics() async -> String {
        let lanes = await worker.statuses()
        let partitions = lanes.flatMap(\.positions).sorted { $0.id < $1.id }
        let lags = partitions.compactMap { partition in
            partition.lag.map { lag in
                (
                    labels: [("topic", partition.id.topic), ("partition", "\(partition.id.partition)")],
                    value: Double(lag)
                )
            }
        }
        return registry.prometheusText
            + PrometheusText.family(
                "locsearch_partition_lag", .gauge, help: "Records of a partition that are not committed yet.", lags)
            + PrometheusText.family(
                "locsearch_commit_overdue_seconds", .gauge,
                help: "For how long no request begins because what is finished cannot be committed; 0: it can.",
                [(labels: [], value: (Self.commitOverdue(lanes) ?? .zero) / .seconds(1))])
            + PrometheusText.family(
                "locsearch_build_info", .gauge, help: "Versions of what runs; always 1.",
                [(labels: [("librdkafka", "\(LibraryVersion.running)")], value: 1)])
            + ProviderSummary.prometheusText(ProviderSummary.all(await worker.providerStatuses()))
            + ProcessMetrics.prometheusText
    }

    func status() async -> String {
        let lanes = await worker.statuses()
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        json.member("inFlight", lanes.reduce(0) { $0 + $1.inFlight })
        json.member("undelivered", lanes.reduce(0) { $0 + $1.undelivered })
        json.member("draining", lanes.contains(where: \.isDraining))
        json.member("commitOverdueSeconds", Self.commitOverdue(lanes).map { $0 / .seconds(1) })
        json.key("assignment")
        json.beginArray()
        for partition in lanes.flatMap(\.positions).sorted(by: { $0.id < $1.id }) {
            json.beginObject()
            json.member("topic", partition.id.topic)
            json.member("partition", Int(partition.id.partition))
            json.member("inFlight", partition.inFlight)
            json.member("committed", partition.committed.map(Int.init))
            json.member("end", partition.end.map(Int.init))
            json.member("lag", partition.lag.map(Int.init))
            json.endObject()
        }
        json.endArray()
        json.key("providers")
        json.beginArray()
        for summary in ProviderSummary.all(await worker.providerStatuses()) { summary.write(to: &json) }
        json.endArray()
        json.endObject()
        return String(decoding: json.finish(), as: UTF8.self) + "\n"
    }
}
