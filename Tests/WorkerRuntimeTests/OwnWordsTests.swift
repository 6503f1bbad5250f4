import Basics
import EventContract
import Kafka
import LocationSearch
import TestSupport
import Testing

@testable import WorkerRuntime

/// A worker never answers its own outcomes, however they come to it.
struct OwnWordsTests {
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

    @Test(arguments: deliveries, outcomes) func outcomeInTheRequestsTopicIsAnInvalidRequestOnce(
        delivery: WorkerConfiguration.Delivery, outcome: (type: String, value: String)
    ) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            await bench.source.append([outcome.value], headers: Self.event(outcome.type))
            await bench.source.append([LaneBench.request("next")])
            try await bench.outcomesAreWritten(["next"])
            #expect(await bench.provider.asked == ["next"])
            #expect(bench.metrics.value("locsearch_requests_rejected_total") == 1)

            let letter = try #require(await bench.sink.written.first { $0.topic == "dead-letters" })
            let read = try #require(DeadLetter(key: nil, value: nil, headers: letter.headers))
            #expect(letter.text == outcome.value)
            #expect(read.isOutcome && read.reason == "invalid-request" && read.member == "ce_type")
            #expect(read.originalHeaders == Self.event(outcome.type))

            // Its error, should it get there as well, is put aside and not answered.
            let error = try #require(await bench.sink.written.first { $0.topic == "errors" })
            await bench.source.append([error.text], headers: error.headers)
            await bench.source.append([LaneBench.request("last")])
            try await bench.outcomesAreWritten(["next", "last"])
            #expect(await bench.sink.count(of: "errors") == 1)
            #expect(await bench.sink.count(of: "dead-letters") == 2)
        }
    }

    /// As if all topics were one: whatever the lane writes is read as a request again.
    @Test(arguments: deliveries) func laneThatReadsWhatItWritesComesToAnEnd(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            await bench.source.append(["no JSON", LaneBench.request("r")])
            var (appended, read) = (Int64(2), 0)
            for round in 1...10 {
                try await bench.isCommitted(upTo: appended)
                let written = await bench.sink.written.dropFirst(read)
                if written.isEmpty {
                    // Of two records: the error and the dead letter of one, the result of the other, and what they make.
                    #expect(read == 13)
                    return
                }

                read += written.count
                for record in written { await bench.source.append([record.text], headers: record.headers) }
                appended += Int64(written.count)
                #expect(round < 6, "\(written.map(\.text))")
            }
            Issue.record("the lane answers itself for ever")
        }
    }

    @Test(arguments: deliveries) func partitionOfAnotherTopicIsNotRun(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            let foreign = TopicPartition("results", 0)
            await bench.source.append([LaneBench.request("foreign")], of: "results")
            await bench.source.assign([foreign, TopicPartition("requests", 1)])
            await bench.source.append([LaneBench.request("own")], to: 1)
            try await bench.outcomesAreWritten(["own"])
            try await bench.isCommitted(upTo: 1, partition: 1)

            #expect(await bench.provider.asked == ["own"])
            #expect(bench.metrics.value("locsearch_partitions_assigned") == 2)
            #expect(await bench.source.committed[foreign] == nil)
        }
    }
}
