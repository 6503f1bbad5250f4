import Kafka
@testable import QuotaSharing
import TestSupport
import Testing

@testable import WorkerRuntime

/// A lane that reads requests from several topics.
struct SeveralTopicsTests {
    private static func configure(_ configuration: inout WorkerConfiguration) {
        configuration.topics.requestTopics = [RequestTopic("requests"), RequestTopic("night", classes: [.batch])]
    }

    private static func ids(_ partitions: [(String, Int32)]) -> [TopicPartition] {
        partitions.map { TopicPartition($0.0, $0.1) }
    }

    /// Members that read only the first topic compute shares from its partitions. If others counted too, the shares of a limit would
    /// add up to more than the limit.
    @Test func `Shares of a limit depend on the partitions of the first topic`() async throws {
        let fleet = FakeFleet()
        try await LaneFixture.run(fleet: fleet, assigned: [], Self.configure) { fixture in
            #expect(await fixture.source.subscribed == ["requests", "night"])
            await fixture.source.assign(Self.ids([("night", 0), ("night", 3)]))
            #expect(fleet.last == .init(partitions: [], count: 4))
            // It has no share, and may use quota that others lease to it.
            await fixture.source.append([LaneFixture.request("night")], of: "night")
            try await fixture.outcomesAreWritten(["night"])

            await fixture.source.assign(Self.ids([("requests", 1), ("requests", 3)]))
            #expect(fleet.last == .init(partitions: [1, 3], count: 4))
            await fixture.source.setPartitionCount(8)
            try await eventually("it follows a topic that grows") {
                fleet.last == .init(partitions: [1, 3], count: 8)
            }

            // Partition 3 of both topics is revoked.
            await fixture.source.revoke([3])
            #expect(fleet.last == .init(partitions: [1], count: 8))
            await fixture.source.lose([0])
            #expect(fleet.last == .init(partitions: [1], count: 8))
        }
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `Each topic has its own measurements`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery, assigned: [], Self.configure) { fixture in
            await fixture.source.assign(Self.ids([("requests", 0), ("night", 0)]))
            await fixture.source.append(["a", "b", "c"].map(LaneFixture.request), of: "night")
            func count(_ family: String, _ operation: String, _ topic: String) -> Double {
                var labels = [
                    "messaging_system": "kafka", "messaging_operation_name": operation,
                    "messaging_destination_name": topic,
                ]
                if operation == "process" { labels["messaging_consumer_group_name"] = "workers" }
                return fixture.metrics.value("messaging_\(family)_duration_seconds_count", labels) ?? 0
            }
            try await eventually("the requests are measured") { count("process", "process", "night") == 3 }
            try await eventually("the commit is measured") { count("client_operation", "commit", "night") > 0 }
            #expect(count("process", "process", "requests") == 0)

            await fixture.source.append([LaneFixture.request("d")])
            try await eventually("the request is measured") { count("process", "process", "requests") == 1 }
            try await eventually("the commit is measured") { count("client_operation", "commit", "requests") > 0 }
            #expect(count("process", "process", "night") == 3)
            #expect(fixture.metrics.problems.isEmpty, "\(fixture.metrics.problems)")
        }
    }
}
