import EventContract
import LocationSearch
import Observability
import ProviderCalls
import TestSupport
import Testing

@testable import WorkerRuntime

/// A lane's counts and measurements, in both deliveries.
struct WorkerMetersTests {
    private static let process = [
        "messaging_system": "kafka", "messaging_operation_name": "process", "messaging_destination_name": "requests",
        "messaging_consumer_group_name": "workers",
    ]

    private static func operation(_ name: String, on topic: String) -> [String: String] {
        [
            "messaging_system": "kafka", "messaging_operation_name": name, "messaging_destination_name": topic,
        ]
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `Each outcome is measured once in each step`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            let minuteAgo = WallTime.now().milliseconds - 60_000
            await fixture.source.append((0..<10).map { LaneFixture.request("r\($0)") }, timestamp: minuteAgo)
            await fixture.source.append(["no JSON"], timestamp: minuteAgo)
            await fixture.source.append([LaneFixture.request("without a timestamp")])
            try await eventually("all outcomes are measured") {
                fixture.metrics.value("messaging_process_duration_seconds_count", Self.process) == 12
            }
            try await eventually("the commit is measured") {
                let commits = Self.operation("commit", on: "requests")
                return fixture.metrics.value("messaging_client_operation_duration_seconds_count", commits) ?? 0 > 0
            }

            let metrics = fixture.metrics
            #expect(metrics.problems.isEmpty, "\(metrics.problems)")
            for (name, count) in [("end_to_end", 11.0), ("topic_wait", 11), ("call_wait", 11)] {
                #expect(metrics.value("locsearch_request_\(name)_seconds_count") == count, "\(name)")
            }
            let total = try #require(metrics.value("locsearch_request_end_to_end_seconds_sum"))
            #expect(total >= 11 * 60 && total < 11 * 180)
            #expect(metrics.value("locsearch_request_topic_wait_seconds_bucket", ["le": "30.0"]) == 0)
            #expect(metrics.value("locsearch_request_topic_wait_seconds_bucket", ["le": "300.0"]) == 11)

            for (topic, count) in [("results", 11.0), ("errors", 1), ("dead-letters", 1)] {
                let sends = Self.operation("send", on: topic)
                #expect(metrics.value("messaging_client_operation_duration_seconds_count", sends) == count, "\(topic)")
            }
            #expect(metrics.value("locsearch_dead_letters_total") == 1)
            #expect(metrics.value("locsearch_requests_rejected_total") == 1)
            #expect(metrics.value("locsearch_requests_taken_total") == 12)
        }
    }

    /// A producer may write any timestamp. A single one must not dominate the sum.
    @Test func `Hostile timestamps count as 30 days at most`() async throws {
        try await LaneFixture.run { fixture in
            let hostile: [Int64] = [.min, -1, 0, .max, WallTime.now().milliseconds + 86_400_000]
            for (number, timestamp) in hostile.enumerated() {
                await fixture.source.append([LaneFixture.request("h\(number)")], timestamp: timestamp)
            }
            try await eventually("all outcomes are measured") {
                fixture.metrics.value("locsearch_request_end_to_end_seconds_count") == 5
            }

            let sum = try #require(fixture.metrics.value("locsearch_request_end_to_end_seconds_sum"))
            let days = 30.0 * 86_400
            #expect(sum >= 3 * days && sum < 3 * days + 60, "\(sum)")
        }
    }

    @Test func `Partitions of all lanes are counted together`() throws {
        let registry = try LaneFixture(delivery: .atLeastOnce).registry
        let (one, other) = (WorkerMeters(factory: registry), WorkerMeters(factory: registry))
        one.kafka.countAssigned(change: 3)
        other.kafka.countAssigned(change: 2)
        one.kafka.countAssigned(change: -1)

        #expect(PrometheusDocument(registry.prometheusText).value("locsearch_partitions_assigned") == 4)
    }

    @Test func `Calls are counted by how they ended`() {
        let registry = MetricsRegistry()
        let meters = WorkerMeters(factory: registry)
        meters.calls.countEnded(.hotpepper, .answered, after: .milliseconds(80))
        meters.calls.countEnded(.hotpepper, .failed(.timeout), after: .seconds(5))
        meters.calls.countEnded(.hotpepper, .failed(.timeout), after: .seconds(5))
        meters.calls.countEnded(.textSearchPro, .cancelled, after: .milliseconds(3))

        let metrics = PrometheusDocument(registry.prometheusText)
        func count(_ provider: String, _ code: String) -> Double? {
            metrics.value(
                "locsearch_provider_call_duration_seconds_count", ["provider": provider, "code": code])
        }
        #expect(count("hotpepper", "ok") == 1)
        #expect(count("hotpepper", "timeout") == 2)
        #expect(count("google-places", "cancelled") == 1)
        func charged(_ provider: String, as sku: String) -> Double? {
            metrics.value("locsearch_provider_calls_by_sku_total", ["provider": provider, "sku": sku])
        }
        #expect(charged("hotpepper", as: "hotpepper") == 3)
        #expect(charged("google-places", as: "text-search-pro") == 1)
        #expect(charged("google-places", as: "place-details-photos") == 0)
        #expect(count("google-places", "ok") == nil, "what was never observed has no series")
    }
}
