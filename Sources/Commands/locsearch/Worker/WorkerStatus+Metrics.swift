import Kafka
import LocationSearch
import Observability
import WorkerRuntime

/// The values in `/metrics` that are read at each request, in addition to the counters in the registry.
extension WorkerStatus {
    private typealias Sample = (labels: [(String, String)], value: Double)

    static func laneMetrics(_ lanes: [LaneStatus], tenants: TenantSeries) -> String {
        let partitions = lanes.flatMap(\.positions).sorted { $0.id < $1.id }
        let lags = partitions.compactMap { partition -> Sample? in
            let labels = [("topic", partition.id.topic), ("partition", "\(partition.id.partition)")]
            return partition.lag.map { (labels: labels, value: Double($0)) }
        }
        let blocked = partitions.filter { $0.problem != nil }.map { partition -> Sample in
            (labels: [("topic", partition.id.topic), ("partition", "\(partition.id.partition)")], value: 1)
        }
        func ofLoops(_ time: (LaneStatus) -> Duration) -> [Sample] {
            lanes.enumerated().map { (labels: [("loop", "\($0)")], value: time($1) / .seconds(1)) }
        }
        func sum(_ value: (LaneStatus) -> Int) -> Double { Double(lanes.reduce(0) { $0 + value($1) }) }

        return PrometheusText.family("locsearch_partition_lag", lags)
            + PrometheusText.family("locsearch_partition_blocked", blocked)
            + PrometheusText.family("locsearch_requests_open", sum { $0.inFlight + $0.unconfirmed })
            + PrometheusText.family("locsearch_requests_unconfirmed", sum(\.unconfirmed))
            + waitingMetrics(lanes, tenants: tenants)
            + PrometheusText.family(
                "locsearch_commit_overdue_seconds", (longestOverdue(of: lanes) ?? .zero) / .seconds(1))
            + PrometheusText.family(
                "locsearch_delivery_blocked", lanes.contains { $0.delivery.problem != nil } ? 1 : 0)
            + PrometheusText.family("locsearch_topic_blocked", blockedTopics(of: lanes))
            + PrometheusText.family("locsearch_producer_queue_records", sum(\.queuedRecords))
            + PrometheusText.family("locsearch_loop_busy_seconds_total", ofLoops(\.busy))
            + PrometheusText.family("locsearch_loop_longest_pass_seconds", ofLoops(\.longestPass))
            + fetchQueueMetrics(lanes.compactMap(\.consumer))
            + brokerMetrics(lanes)
    }

    /// Returns the waiting requests of a process by class and tenant, largest number first.
    static func waitingFlows(_ lanes: [LaneStatus]) -> [LaneStatus.WaitingFlow] {
        var flows: [Flow: LaneStatus.WaitingFlow] = [:]
        for waiting in lanes.flatMap(\.waiting) {
            let known = flows[waiting.flow]
            flows[waiting.flow] = LaneStatus.WaitingFlow(
                flow: waiting.flow, count: waiting.count + (known?.count ?? 0),
                longest: max(waiting.longest, known?.longest ?? .zero))
        }
        return flows.values.sorted { ($1.count, $0.flow.tenant) < ($0.count, $1.flow.tenant) }
    }

    private static func waitingMetrics(_ lanes: [LaneStatus], tenants: TenantSeries) -> String {
        let flows = waitingFlows(lanes)
        let classes = RequestClass.allCases.map { requestClass -> Sample in
            let ofClass = flows.filter { $0.flow.requestClass == requestClass }
            return (labels: [("class", requestClass.rawValue)], value: Double(ofClass.reduce(0) { $0 + $1.count }))
        }
        let samples = tenants.counts(of: flows).map { flow, count -> Sample in
            (labels: [("class", flow.requestClass.rawValue), ("tenant", flow.tenant)], value: Double(count))
        }
        return PrometheusText.family("locsearch_requests_waiting", classes)
            + PrometheusText.family("locsearch_tenant_requests_waiting", samples)
    }

    private static func blockedTopics(of lanes: [LaneStatus]) -> [Sample] {
        Set(lanes.flatMap(\.delivery.blockedTopics)).sorted().map { (labels: [("topic", $0)], value: 1) }
    }

    // MARK: - Client statistics

    private static func fetchQueueMetrics(_ consumers: [ClientStatistics]) -> String {
        guard !consumers.isEmpty else { return "" }
        return PrometheusText.family(
            "locsearch_fetch_queue_records", Double(consumers.reduce(0) { $0 + $1.fetchedRecords }))
    }

    private static func brokerMetrics(_ lanes: [LaneStatus]) -> String {
        let clients = [("consumer", lanes.compactMap(\.consumer)), ("producer", lanes.compactMap(\.producer))]
        let brokers = clients.flatMap { client, statistics in
            perBroker(statistics).map { (labels: [("broker", "\($0.id)"), ("client", client)], broker: $0) }
        }
        func family(_ name: String, of time: (ClientStatistics.Broker) -> Duration) -> String {
            PrometheusText.family(
                "locsearch_broker_" + name, brokers.map { (labels: $0.labels, value: time($0.broker) / .seconds(1)) })
        }

        return family("rtt_p99_seconds", of: \.slowRoundTrip) + family("throttle_seconds", of: \.throttle)
    }

    /// Combines the statistics of all clients for each broker: the longest times.
    private static func perBroker(_ statistics: [ClientStatistics]) -> [ClientStatistics.Broker] {
        var all: [Int: ClientStatistics.Broker] = [:]
        for broker in statistics.flatMap(\.brokers) {
            var longest = all[broker.id] ?? ClientStatistics.Broker(id: broker.id)
            longest.slowRoundTrip = max(longest.slowRoundTrip, broker.slowRoundTrip)
            longest.throttle = max(longest.throttle, broker.throttle)
            all[broker.id] = longest
        }
        return all.values.sorted { $0.id < $1.id }
    }

    // MARK: - Autoscaling

    /// Returns the number of requests that wait in this worker's partitions and that an additional worker could run.
    ///
    /// It is 0 while no more calls to any provider are possible. Autoscaling by lag would start workers that only share
    /// the same quota. Lanes whose outcomes the brokers do not accept are not counted either.
    /// - Parameter automatic: the configured providers that `auto` uses.
    static func runnableBacklog(_ lanes: [LaneStatus], providers: [ProviderSummary], automatic: [ProviderID]) -> Int64 {
        guard ProviderSummary.inUse(providers, automatic: automatic).contains(where: \.isAskable) else { return 0 }
        let able = lanes.filter { $0.delivery.problem == nil }
        let read = able.reduce(0) { $0 + Int64($1.waiting.reduce(0) { $0 + $1.count } - $1.heldBack) }
        return able.flatMap(\.positions).reduce(read) { $0 + ($1.waiting ?? 0) }
    }
}
