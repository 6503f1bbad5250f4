import EventLoop
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// Start positions while an open transaction holds back the group's offsets.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(2)))
struct UnstableOffsetTests {
    /// UNSTABLE_OFFSET_COMMIT: a transaction is about to commit an offset of the partition.
    private static let unstable: Int32 = 88
    /// REBALANCE_IN_PROGRESS: the member revokes its partitions and joins again.
    private static let rebalance: Int32 = 27

    /// librdkafka repeats the request for committed offsets while they are unstable. If a rebalance comes meanwhile, it reads the
    /// answer to an older request as "nothing is committed" and begins at `auto.offset.reset`.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be made to refuse"))
    func `A rebalance during an open transaction repeats no record`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let broker = try #require(fixture.broker.embedded)
        broker.setGroupDelay(.milliseconds(100))
        let producer = try fixture.producer()
        try await fixture.fill(20, partition: 0, with: producer)
        try await commit(15, on: fixture)

        broker.fail(.offsetFetch, with: Self.unstable, count: 10_000)
        let consumer = try fixture.consumer {
            // A rebalance revokes all partitions, also of the only member.
            $0.properties["partition.assignment.strategy"] = "range"
            // Longer than the rebalance, so that the request from before it is repeated after it.
            $0.properties["retry.backoff.ms"] = "1500"
        }
        let notes = try await fixture.join(consumer)
        try await eventually("the partition is assigned") { await notes.answered == [.assigned] }
        // librdkafka has requested the committed offset by then, if it does.
        try await Task.sleep(for: .milliseconds(500))
        broker.fail(.heartbeat, with: Self.rebalance)
        try await eventually("the partition is assigned again") {
            await notes.answered == [.assigned, .revoked, .assigned]
        }

        let reading = Task { try await consumer.read(5) }
        // Until the request from before the rebalance has been repeated.
        try await Task.sleep(for: .seconds(2))
        broker.clearFailures(of: .offsetFetch)

        #expect(try await reading.value.map(\.offset) == [15, 16, 17, 18, 19])
    }

    /// Lets the group commit an offset of the only partition.
    private func commit(_ offset: Int64, on fixture: KafkaFixture) async throws {
        let member = try fixture.consumer()
        try await fixture.join(member)
        let partition = try #require(try await member.read(20).first).partition
        await member.store([(partition: partition, next: CommittedOffset(offset))])
        await member.close()
    }
}
