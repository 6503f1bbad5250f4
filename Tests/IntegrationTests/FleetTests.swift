import Foundation
import Kafka
import TestSupport
import Testing

/// Workers that share one key's limit by demand.
struct FleetTests {
    private static let settings = [
        "PROVIDERS_HOTPEPPER_REQUESTS_PER_SECOND": "20", "PROVIDERS_HOTPEPPER_BURST": "2", "WORKER_DEADLINE": "30s",
    ]

    /// Sends all requests to one of two workers, and waits until it has the share that the other does not need.
    /// - Parameters:
    ///   - more: settings of both workers.
    ///   - ofSecond: settings of the second one.
    private static func expectOneToHaveAll(
        with more: [String: String] = [:], ofSecond: [String: String] = [:]
    ) async throws {
        try await WorkerHarness.run(settings.merging(more) { $1 }) { harness in
            let second = try RunningProgram(["worker"], environment: harness.environment.merging(ofSecond) { $1 })
            defer { second.end() }
            try await eventually("each has two partitions", within: .seconds(120)) {
                second.error.contains(#""owned":"2""#)
            }

            // One key is one partition.
            let requests = (0..<160).map {
                WorkerHarness.request("r\($0)", "hotpepper", #","radiusMeters":\#($0 + 300)"#)
            }
            try await harness.send(requests, key: "one tenant")

            var parts: [Double] = []
            try await eventually("one of them may use nearly all", within: .seconds(30)) {
                let own = try await harness.metric(#"locsearch_provider_rate_limit{provider="hotpepper"}"#)
                parts.append(own)
                // Either the harness's own worker gets the requests and has the whole limit, or it leases its share to the other one.
                return own > 19 || (own < 1 && parts.contains { $0 > 9 })
            }
            let outcomes = try await harness.outcomes(requests.count)
            #expect(outcomes.values.allSatisfy { $0.places != nil })
            let usable = try await harness.metric("locsearch_fleet_topic_usable")
            #expect(usable == 1)

            second.signal(SIGTERM)
            try await eventually("the second worker ends", within: .seconds(30)) { !second.isRunning }
            #expect(second.code == 0, "\(second.error)\nthe second worker ended with \(second.code ?? -1)")
        }
    }

    /// Ordinary members, static ones, and cooperative ones.
    private static let members: [(both: [String: String], second: [String: String])] = [
        ([:], [:]), (["KAFKA_GROUP_INSTANCE_ID": "first"], ["KAFKA_GROUP_INSTANCE_ID": "second"]),
        (
            [
                "KAFKA_PROPERTIES":
                    "session.timeout.ms=6000,fetch.wait.max.ms=10,partition.assignment.strategy=cooperative-sticky"
            ], [:]
        ),
    ]

    @Test(.timeLimit(.minutes(3)), arguments: members)
    func `A worker has the whole limit while the other one has no work`(
        settings: (both: [String: String], second: [String: String])
    ) async throws {
        try await Self.expectOneToHaveAll(with: settings.both, ofSecond: settings.second)
    }

    @Test(
        .timeLimit(.minutes(3)),
        .enabled(if: LibraryVersion.running >= LibraryVersion(2, 12), "needs librdkafka 2.12: make test-newest"))
    func `KIP-848 members share by demand too`() async throws {
        try await Self.expectOneToHaveAll(
            with: ["KAFKA_GROUP_PROTOCOL": "consumer", "KAFKA_PROPERTIES": "fetch.wait.max.ms=10"])
    }

    /// It reads the topic only for operators' orders, so the topic's state is no metric to alert on.
    @Test(.timeLimit(.minutes(2))) func `A worker without a limit has no metric of the topic`() async throws {
        try await WorkerHarness.run { harness in
            let metrics = try await harness.get("/metrics").body
            #expect(!metrics.contains("locsearch_fleet_topic_usable"))
            let fleet = try await harness.status("fleet", as: [String: Any].self)
            #expect(fleet?["problem"] == nil)
        }
    }
}
