import EventContract
import Basics
import Foundation
import LocationSearch
import Observability
import TestSupport
import Testing

/// `/metrics` of a worker process between a broker and providers.
@Suite(.serialized)
struct MetricsTests {
    private static let settings = [
        "PROVIDERS_HOTPEPPER_REQUESTS_PER_SECOND": "100000"
    ]

    private static func metrics(of harness: WorkerHarness) async throws -> PrometheusDocument {
        PrometheusDocument(try await harness.get("/metrics").body)
    }

    /// Waits until the worker has taken and finished `count` records.
    private static func everythingIsDone(_ count: Int, in harness: WorkerHarness) async throws {
        try await eventually("\(count) records are done", within: .seconds(100)) {
            let metrics = try await metrics(of: harness)
            return metrics.value("locsearch_requests_taken_total") == Double(count)
                && metrics.value("locsearch_requests_open") == 0
        }
    }

    @Test(.timeLimit(.minutes(3))) func `Every metric of the reference is shown with a plausible value`() async throws {
        // No server listens there, which does not matter: the metrics of tracing exist as soon as it is enabled.
        let more = ["TRACING_ENDPOINT": "http://127.0.0.1:1", "PROVIDERS_HOTPEPPER_CALLS_PER_DAY": "100000"]
        try await WorkerHarness.run(Self.settings.merging(more) { own, _ in own }) { harness in
            let answered = (0..<20).map { WorkerHarness.request("a\($0)", "hotpepper", #","keyword":"\#($0)""#) }
            let refused = (0..<2).map { WorkerHarness.request("f\($0)", "hotpepper", #","category":"hospital\#($0)""#) }
            try await harness.send(answered + refused + ["no JSON", "{}", ""], age: .seconds(60))
            try await Self.everythingIsDone(25, in: harness)
            try await eventually("all offsets are committed, and the clients have reported", within: .seconds(60)) {
                let metrics = try await Self.metrics(of: harness)
                let brokers = metrics.families["locsearch_broker_rtt_p99_seconds"]?.samples ?? []
                return metrics.total("locsearch_partition_lag") == 0
                    && metrics.value("locsearch_fetch_queue_records") == 0 && brokers.contains { $0.value > 0 }
                    && Set(brokers.map { $0.labels["client"] }) == ["consumer", "producer"]
            }

            let metrics = try await Self.metrics(of: harness)
            #expect(metrics.problems.isEmpty, "\(metrics.problems)")
            Self.expectTheReference(metrics)
            Self.expectCounts(metrics)
            Self.expectFigures(metrics)
        }
    }

    /// The metrics that are absent here: the embedded broker reports no topic settings, no topic or partition is blocked, no order is
    /// in force, no tenant is known.
    private static let absent: Set = [
        "locsearch_topic_blocked", "locsearch_control_active", "locsearch_tenant_requests_waiting",
        "locsearch_partition_blocked", "locsearch_requests_retention_seconds", "locsearch_requests_past_half_retention",
    ]

    /// The page and the program agree: docs/metrics.md is generated from these descriptions.
    private static func expectTheReference(_ metrics: PrometheusDocument) {
        // The console's metrics are those of another process.
        let all = MetricDescription.all.filter { $0.section != .console }
        #expect(Set(metrics.families.keys).union(absent) == Set(all.map(\.name)))
        for metric in all where !absent.contains(metric.name) {
            #expect(metrics.families[metric.name]?.kind == metric.kind.rawValue, "\(metric.name)")
            let labels = Set(metrics.families[metric.name]?.samples.flatMap(\.labels.keys) ?? [])
            #expect(labels.subtracting(["le"]) == Set(metric.labels), "\(metric.name)")
        }
    }

    private static func expectCounts(_ metrics: PrometheusDocument) {
        #expect(metrics.value("locsearch_requests_completed_total", ["provider": "hotpepper"]) == 20)
        #expect(metrics.total("locsearch_requests_failed_total") == 2)
        #expect(metrics.value("locsearch_requests_rejected_total") == 3)
        #expect(metrics.value("locsearch_dead_letters_total") == 3)
        for (name, count) in [
            ("locsearch_request_end_to_end_seconds", 25.0), ("locsearch_request_topic_wait_seconds", 25),
            ("locsearch_request_call_wait_seconds", 20), ("locsearch_upstream_duration_seconds", 20),
            ("messaging_process_duration_seconds", 25),
        ] { #expect(metrics.total(name + "_count") == count, "\(name)") }

        let calls = metrics.value(
            "locsearch_provider_call_duration_seconds_count", ["provider": "hotpepper", "code": "ok"])
        #expect(calls == 20)
        #expect(metrics.total("locsearch_provider_calls_total") == 20)
        func operations(_ name: String, on topic: String) -> Double? {
            metrics.value(
                "messaging_client_operation_duration_seconds_count",
                [
                    "messaging_system": "kafka", "messaging_operation_name": name,
                    "messaging_destination_name": "location-search.\(topic)",
                ])
        }
        #expect(operations("send", on: "results") == 20)
        #expect(operations("send", on: "errors") == 5)
        #expect(operations("send", on: "dead-letters") == 3)
        #expect(operations("commit", on: "requests") ?? 0 >= 1)
        #expect(metrics.value("locsearch_rebalance_duration_seconds_count", ["kind": "assigned"]) ?? 0 >= 1)
        #expect(metrics.value("locsearch_rebalance_duration_seconds_count", ["kind": "lost"]) == 0)
    }

    private static func expectFigures(_ metrics: PrometheusDocument) {
        #expect(metrics.value("locsearch_ready") == 1)
        #expect(metrics.value("locsearch_partitions_assigned") == 4)
        #expect(metrics.value("locsearch_runnable_backlog") == 0)
        #expect(metrics.value("locsearch_provider_askable", ["provider": "hotpepper"]) == 1)
        #expect(metrics.value("locsearch_provider_rate_limit", ["provider": "hotpepper"]) == 100_000)
        #expect(
            metrics.value(
                "locsearch_provider_budget", ["provider": "hotpepper", "account": "hotpepper", "unit": "calls"])
                == 100_000)
        #expect(metrics.value("locsearch_producer_queue_records") == 0)
        #expect(metrics.value("locsearch_fetch_queue_records") == 0)

        // The records' timestamps are a minute old, and the test takes a little longer.
        let mean = metrics.total("locsearch_request_end_to_end_seconds_sum") / 25
        #expect(mean >= 60 && mean < 180, "\(mean)")
        let busy = metrics.value("locsearch_loop_busy_seconds_total", ["loop": "0"]) ?? 0
        #expect(busy > 0 && busy < 60, "\(busy)")
        for broker in metrics.families["locsearch_broker_rtt_p99_seconds"]?.samples ?? [] {
            #expect(broker.value >= 0 && broker.value < 30, "\(broker)")
        }
    }

    // MARK: - Requests create no series

    /// The number of values of each label in these tests: 3 providers, 13 codes with `ok` and `cancelled`, 4 partitions.
    private static let values = [
        "provider": ProviderID.allCases.count, "sku": PriceClass.allCases.count,
        "code": SearchError.Code.allCases.count + 2, "state": 4, "reason": 9,
        "kind": 3,
        "topic": 1, "partition": 4, "broker": 1, "client": 2, "loop": 1, "messaging_operation_name": 2,
        "messaging_destination_name": 2, "class": RequestClass.allCases.count, "tenant": 10,
    ]

    /// Returns the largest number of series that a metric can have.
    private static func bound(of metric: MetricDescription) -> Int {
        let combinations = metric.labels.reduce(1) { $0 * (values[$1] ?? 1) }
        // Buckets including the unbounded one, sum and count.
        return combinations * (metric.kind == .histogram ? metric.bounds.count + 3 : 1)
    }

    private static func hostileRecords(_ range: Range<Int>) -> [String] {
        let nasty = #"\"} 1\n# TYPE evil counter\nevil{x=\"\\\u0000"#
        return range.map { number in
            switch number % 20 {
            case 0: "\u{0}\u{1}{{{ \(number)"
            case 1: #"{"requestId":"\#(nasty)\#(number)","sessionId":7}"#
            case 2, 3: WorkerHarness.request("r\(number)", "provider-\(number)")
            case 4...6: WorkerHarness.request("r\(number)", "hotpepper", #","category":"category\#(number)""#)
            case 7, 8: WorkerHarness.request("r\(number)", "google-places", #","category":"\#(nasty)""#)
            case 9, 10: WorkerHarness.request("r\(number)", "google-places-legacy", #","keyword":"k\#(number)""#)
            case 11: WorkerHarness.request("r\(number)", "hotpepper", #","keyword":"fault:500","timeoutMs":1000"#)
            default: WorkerHarness.request("\(nasty)\(number)", "hotpepper", #","sessionId":"\#(nasty)\#(number)""#)
            }
        }
    }

    @Test(.timeLimit(.minutes(4))) func `Ten thousand hostile records create no series`() async throws {
        try await WorkerHarness.run(Self.settings) { harness in
            try await harness.sendTogether(Self.hostileRecords(0..<9_000))
            try await Self.everythingIsDone(9_000, in: harness)
            try await eventually("librdkafka has reported its statistics", within: .seconds(60)) {
                let brokers = try await Self.metrics(of: harness).families["locsearch_broker_rtt_p99_seconds"]
                return Set(brokers?.samples.compactMap { $0.labels["client"] } ?? []).count == 2
            }
            let before = try await Self.metrics(of: harness)
            try await harness.sendTogether(Self.hostileRecords(9_000..<10_000))
            try await Self.everythingIsDone(10_000, in: harness)

            let metrics = try await Self.metrics(of: harness)
            #expect(metrics.problems.isEmpty, "\(metrics.problems)")
            for metric in MetricDescription.all {
                let series = metrics.families[metric.name]?.samples.count ?? 0
                #expect(series <= Self.bound(of: metric), "\(metric.name)")
            }
            #expect(metrics.families.keys.allSatisfy { MetricDescription.named($0) != nil })

            // New series may come only from codes that no call had ended with before, each with one histogram.
            let calls = "locsearch_provider_call_duration_seconds"
            func others(_ metrics: PrometheusDocument) -> Int {
                metrics.seriesCount - (metrics.families[calls]?.samples.count ?? 0)
            }
            #expect(others(metrics) == others(before))
            #expect(metrics.seriesCount < 1_200, "\(metrics.seriesCount)")
            #expect(metrics.total("locsearch_requests_rejected_total") > 500)
        }
    }

    // MARK: - Autoscaling

    @Test(.timeLimit(.minutes(2))) func `The backlog is runnable only while a provider may be asked`() async throws {
        let settings = [
            "WORKER_CONCURRENCY": "4", "PROVIDERS_ORDER": "hotpepper", "PROVIDERS_HOTPEPPER_WHEN_OPEN": "hold",
            "PROVIDERS_HOTPEPPER_BREAKER_MINIMUM_CALLS": "5", "PROVIDERS_HOTPEPPER_BREAKER_OPEN_DURATION": "60s",
            "PROVIDERS_HOTPEPPER_SINGLE_FLIGHT": "false",
        ]
        try await WorkerHarness.run(settings) { harness in
            try await harness.configureProviders(#"{"latency":"1s"}"#)
            try await harness.sendTogether((0..<60).map { WorkerHarness.request("r\($0)", "hotpepper") })
            try await eventually("the backlog is there to be run") {
                let metrics = try await Self.metrics(of: harness)
                return metrics.value("locsearch_runnable_backlog") ?? 0 >= 30
                    && metrics.value("locsearch_provider_askable", ["provider": "hotpepper"]) == 1
            }

            try await harness.configureProviders(#"{"latency":"0ms","apis":["hotpepper"],"faults":{"500":1}}"#)
            try await eventually("the breaker is open, and nothing of the backlog could be run") {
                let metrics = try await Self.metrics(of: harness)
                return metrics.value("locsearch_provider_askable", ["provider": "hotpepper"]) == 0
                    && metrics.value("locsearch_runnable_backlog") == 0
                    && metrics.total("locsearch_partition_lag") > 0
            }
        }
    }

    @Test(.timeLimit(.minutes(2))) func `No backlog is runnable at the shared rate limit`() async throws {
        let settings = [
            "WORKER_CONCURRENCY": "4", "PROVIDERS_ORDER": "hotpepper", "PROVIDERS_HOTPEPPER_REQUESTS_PER_SECOND": "2",
            "PROVIDERS_HOTPEPPER_SINGLE_FLIGHT": "false",
        ]
        try await WorkerHarness.run(settings) { harness in
            try await harness.sendTogether((0..<60).map { WorkerHarness.request("r\($0)", "hotpepper") })
            try await eventually("calls wait for the rate, and a further worker could not help") {
                let metrics = try await Self.metrics(of: harness)
                return try await harness.status(of: "hotpepper")["waitingForRate"] as? Int ?? 0 > 0
                    && metrics.value("locsearch_runnable_backlog") == 0
                    && metrics.total("locsearch_partition_lag") > 0
            }
            #expect(
                try await Self.metrics(of: harness).value("locsearch_provider_rate_limit", ["provider": "hotpepper"])
                    == 2
            )
        }
    }

    /// Lag is known from the assignment on, before anything was committed, and decreases when transactions commit.
    @Test(.timeLimit(.minutes(2))) func `An exactly-once worker shows its lag from the assignment on`() async throws {
        let settings = ["WORKER_DELIVERY": "exactly-once", "PROVIDERS_HOTPEPPER_WHEN_OPEN": "hold"]
        try await WorkerHarness.run(settings) { harness in
            try await eventually("the lag of all partitions is known") {
                try await Self.metrics(of: harness).families["locsearch_partition_lag"]?.samples.count == 4
            }
            try await harness.configureProviders(#"{"latency":"4s"}"#)
            try await harness.sendTogether((0..<20).map { WorkerHarness.request("r\($0)", "hotpepper") })
            try await eventually("what is under way counts") {
                try await Self.metrics(of: harness).total("locsearch_partition_lag") == 20
            }
            try await eventually("committed transactions end it", within: .seconds(40)) {
                try await Self.metrics(of: harness).total("locsearch_partition_lag") == 0
            }
        }
    }
}
