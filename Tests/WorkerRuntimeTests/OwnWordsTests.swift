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

    private static let result = #"{"requestId":"r","operation":"search","provider":"hotpepper","places":[]}"#
    private static let error = #"{"requestId":"r","operation":"search","error":{"code":"timeout","message":"m"}}"#

    @Test(arguments: deliveries) func errorInTheRequestsTopicIsPutAsideAndNotAnswered(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            await bench.source.append([Self.error], headers: Self.event("location-search.failed.v1"))
            await bench.source.append([LaneBench.request("next")])
            try await bench.outcomesAreWritten(["next"])

            #expect(await bench.sink.count(of: "errors") == 0)
            let letters = await bench.sink.written.filter { $0.topic == "dead-letters" }
            #expect(letters.map(\.text) == [Self.error])
            let headers = try #require(letters.first).headers
            let letter = try #require(DeadLetter(key: nil, value: nil, headers: headers))
            #expect(letter.isOutcome && letter.reason == "invalid-request" && letter.member == "ce_type")
            #expect(letter.originalHeaders == Self.event("location-search.failed.v1"))
            #expect(bench.metrics.value("locsearch_requests_rejected_total") == 1)
        }
    }

    @Test(arguments: deliveries) func resultInTheRequestsTopicIsAnInvalidRequestOnce(
        delivery: WorkerConfiguration.Delivery
    ) async throws {
        try await LaneBench.run(delivery: delivery) { bench in
            await bench.source.append([Self.result], headers: Self.event("location-search.completed.v1"))
            await bench.source.append([LaneBench.request("next")])
            try await bench.outcomesAreWritten(["next"])

            #expect(await bench.sink.count(of: "errors") == 1)
            #expect(await bench.sink.count(of: "dead-letters") == 1)
            #expect(await bench.provider.asked == ["next"])
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
                    #expect(read == 9)
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
