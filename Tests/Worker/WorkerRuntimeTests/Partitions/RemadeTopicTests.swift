import Kafka
import KafkaTestSupport
import TestSupport
import Testing

@testable import WorkerRuntime

/// A requests topic that is deleted and recreated while a lane has open requests of it.
struct RemadeTopicTests {
    private static let requests = TopicPartition("requests", 0)

    /// The last open request of the former topic ends while one of the new topic is open.
    @Test(arguments: [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce])
    func `A commit never passes open requests of the new topic`(delivery: WorkerConfiguration.Delivery) async throws {
        try await LaneFixture.run(delivery: delivery) { fixture in
            await fixture.source.skip(to: 500)
            await fixture.provider.hold()
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            try await eventually("both are asked for") { await fixture.provider.asked.count == 2 }

            await fixture.source.restart(0)
            await fixture.source.append(["new"].map(LaneFixture.request))
            try await eventually("the new one is asked for") { await fixture.provider.asked.last == "new" }
            await fixture.provider.release(2)
            await fixture.source.append(["later"].map(LaneFixture.request))
            try await eventually("the next one is asked for") { await fixture.provider.asked.last == "later" }
            #expect(await fixture.committedOffset == 0)

            await fixture.provider.releaseAll()
            try await eventually("the new topic is committed") { await fixture.committedOffset == 2 }
            try await fixture.outcomesAreWritten(["new", "later"])
        }
    }

    /// The offsets of both topics are the same.
    @Test func `A new request begins although a former one at its offset is open`() async throws {
        try await LaneFixture.run { fixture in
            await fixture.provider.hold()
            await fixture.source.append([LaneFixture.request("former")])
            try await eventually("it is asked for") { await fixture.provider.asked == ["former"] }

            await fixture.source.restart(0)
            await fixture.provider.releaseAll()
            await fixture.source.append([LaneFixture.request("new")])
            try await fixture.outcomesAreWritten(["new"])
            try await fixture.isCommitted(upTo: 1)
        }
    }

    /// The done-set of the former topic does not apply to the new one.
    @Test func `The done-set of the former topic is forgotten`() async throws {
        var metadata = CommitMetadata()
        metadata.done.append(1..<9)
        let commit = CommittedOffset(0, metadata: metadata.text(for: 0, atMost: 4096).text)
        try await LaneFixture.run(assigned: []) { fixture in
            await fixture.source.setCommit(commit)
            await fixture.source.assign([0])
            await fixture.source.restart(0)
            await fixture.source.append(["a", "b", "c"].map(LaneFixture.request))
            try await fixture.outcomesAreWritten(["a", "b", "c"])
            try await fixture.isCommitted(upTo: 3)
        }
    }

    /// Retention deletes records behind one slow request that the former owner had finished.
    @Test func `Deleted requests that were done are not counted as unread`() async throws {
        var metadata = CommitMetadata()
        metadata.done.append(101..<4920)
        let commit = CommittedOffset(100, metadata: metadata.text(for: 100, atMost: 4096).text)
        try await LaneFixture.run(assigned: []) { fixture in
            await fixture.source.setCommit(commit)
            await fixture.source.assign([0])
            #expect(await fixture.source.tellOfDeleted(100..<4920) == 1)
            #expect(fixture.metrics.value("locsearch_requests_deleted_unread_total") == 1)
        }
    }
}

extension LaneFixture {
    /// The group's committed offset of the first partition, with or without a transaction.
    fileprivate var committedOffset: Int64? {
        get async {
            let id = TopicPartition("requests", 0)
            let inTransactions = await transactionOffsets[id]?.offset
            return if let inTransactions { inTransactions } else { await source.committed[id] }
        }
    }
}
