import EventContract
import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// A worker never answers its own outcomes, by whatever route they reach it.
struct LoopbackRecordTests {
    private static let deliveries = WorkerConfiguration.Delivery.allCases

    private static func event(_ type: String) -> [RecordHeader] {
        [
            ("ce_specversion", "1.0"), ("ce_id", "e"), ("ce_source", "/location-search-worker"), ("ce_type", type),
            ("content-type", "application/json"),
        ].map { RecordHeader($0.0, Array($0.1.utf8)) }
    }

    private static let outcomes = [
        ("location-search.completed.v1", #"{"requestId":"r","operation":"search","provider":"hotpepper","places":[]}"#),
        (
            "location-search.failed.v1",
            #"{"requestId":"r","operation":"search","error":{"code":"timeout","message":"m"}}"#
        ),
    ]

    @Test(arguments: deliveries, outcomes) func `An outcome in the requests topic is an invalid request once`(
        delivery: WorkerConfiguration.Delivery, outcome: (type: String, value: String)
    ) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            await fixture.source.append([outcome.value], headers: Self.event(outcome.type))
            await fixture.source.append([LaneFixture.request("next")])
            try await fixture.outcomesAreWritten(["next"])
            #expect(await fixture.provider.asked == ["next"])
            #expect(fixture.metrics.value("locsearch_requests_rejected_total") == 1)

            let letter = try #require(await fixture.sink.written.first { $0.topic == "dead-letters" })
            let read = try #require(DeadLetter(key: nil, value: nil, headers: letter.headers))
            #expect(letter.text == outcome.value)
            #expect(read.isOutcome && read.reason == "invalid-request" && read.member == "ce_type")
            #expect(read.originalHeaders == Self.event(outcome.type))

            // If its error also gets there, it becomes a dead letter and is not answered.
            let error = try #require(await fixture.sink.written.first { $0.topic == "errors" })
            await fixture.source.append([error.text], headers: error.headers)
            await fixture.source.append([LaneFixture.request("last")])
            try await fixture.outcomesAreWritten(["next", "last"])
            #expect(await fixture.sink.count(of: "errors") == 1)
            #expect(await fixture.sink.count(of: "dead-letters") == 2)
        }
    }

    /// As if all topics were the same: every record that the lane writes is read as a request again.
    @Test(arguments: deliveries) func `A lane that reads its own outcomes comes to an end`(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            await fixture.source.append(["no JSON", LaneFixture.request("r")])
            var (appended, read) = (Int64(2), 0)
            for round in 1...10 {
                try await fixture.isCommitted(upTo: appended)
                let written = await fixture.sink.written.dropFirst(read)
                if written.isEmpty {
                    // From two records: the error and the dead letter of one, the result of the other, and
                    // the records that follow from these.
                    #expect(read == 13)
                    return
                }

                read += written.count
                for record in written { await fixture.source.append([record.text], headers: record.headers) }
                appended += Int64(written.count)
                #expect(round < 6, "\(written.map(\.text))")
            }
            Issue.record("the lane answers itself for ever")
        }
    }

    @Test(arguments: deliveries) func `A partition of another topic is not read as requests`(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            let foreign = TopicPartition("results", 0)
            await fixture.source.append([LaneFixture.request("foreign")], of: "results")
            await fixture.source.assign([foreign, TopicPartition("requests", 1)])
            await fixture.source.append([LaneFixture.request("own")], to: 1)
            try await fixture.outcomesAreWritten(["own"])
            try await fixture.isCommitted(upTo: 1, partition: 1)

            #expect(await fixture.provider.asked == ["own"])
            #expect(fixture.metrics.value("locsearch_partitions_assigned") == 2)
            #expect(await fixture.source.committed[foreign] == nil)
        }
    }
}
