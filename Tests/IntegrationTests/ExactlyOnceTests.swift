import EventContract
import EventLoop
import Kafka
import KafkaTestSupport
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

/// `worker.delivery=exactly-once`. The embedded broker accepts a transaction's offsets and drops them, so a test with a following
/// worker needs another broker.
@Suite(.serialized)
struct ExactlyOnceTests {
    /// The records and offsets of each transaction, as seen by a proxy in front of the broker.
    @Test(.enabled(if: !TestBroker.isEmbedded, "the embedded broker does not apply the offsets of a transaction"))
    func `A transaction contains the outcomes of the offsets that it commits`() async throws {
        let fixture = try WorkerFixture { target in
            .init(body: WorkerFixture.shop, delay: .milliseconds(target.utf8.count % 7 == 0 ? 120 : 1))
        }
        let ids = (0..<200).map { "t\($0)" }
        try await fixture.send(
            ids.map { ($0, WorkerFixture.request($0, #","keyword":"\#($0)""#)) } + [("bad", "no JSON")])
        _ = try await fixture.run(expecting: ids.count + 1) { $0.delivery = .exactlyOnce }
        #expect(fixture.provider.targets.count == ids.count)

        let transactions = try fixture.broker.transactions(of: fixture.transactionalID)
        #expect(transactions.count > 1)
        var reached: [Int32: Int64] = [:]
        for transaction in transactions {
            #expect(transaction.ended == .committed)
            let outcomes = transaction.records.filter { $0.topic != fixture.topics.deadLetters }
            let held = Dictionary(grouping: try outcomes.map(Self.source), by: \.partition)
            #expect(Set(held.keys).isSubset(of: transaction.offsets.map(\.partition)))
            for (partition, next) in transaction.offsets.map({ ($0.partition, $0.next) }) {
                // A crash note at the beginning of a partition moves no offset, and comes without an outcome.
                let due = Array(reached[partition, default: 0]..<next)
                #expect(held[partition, default: []].map(\.offset).sorted() == due, "partition \(partition)")
                reached[partition] = next
            }
        }
        #expect(reached.values.reduce(0, +) == Int64(ids.count + 1))
        #expect(transactions.flatMap(\.records).filter { $0.topic == fixture.topics.deadLetters }.count == 1)

        // The offsets are applied: the next worker processes only new requests.
        try await fixture.send([("last", WorkerFixture.request("last"))])
        _ = try await fixture.run(expecting: ids.count + 2) { $0.delivery = .exactlyOnce }
        #expect(fixture.provider.targets.count == ids.count + 1)
        await fixture.stop()
    }

    private static func source(_ record: TestBroker.Transaction.Record) throws -> (partition: Int32, offset: Int64) {
        let (partition, offset) = (record.headers["source-partition"], record.headers["source-offset"])
        return (try #require(partition.flatMap { Int32($0) }), try #require(offset.flatMap { Int64($0) }))
    }

    /// Brokers' answers when a coordinator failed or aborted the transaction, although no other process has this transactional id.
    static let finalAnswers: [(request: EmbeddedBroker.API, code: Int32)] = [
        (.endTxn, 48),  // INVALID_TXN_STATE
        (.addPartitionsToTxn, 90),  // PRODUCER_FENCED
        (.addOffsetsToTxn, 47),  // INVALID_PRODUCER_EPOCH
    ]

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"), arguments: finalAnswers)
    func `A worker replaces its producer without further calls`(
        answer: (request: EmbeddedBroker.API, code: Int32)
    ) async throws {
        let fixture = try WorkerFixture()
        try await fixture.whileWorking {
            $0.delivery = .exactlyOnce
        } _: { _ in
            try await fixture.send([("k", WorkerFixture.request("before"))])
            let first = try await fixture.outcomes { $0.count >= 1 }
            #expect(first.count == 1)

            fixture.broker.embedded?.fail(answer.request, with: answer.code)
            try await fixture.send([("k", WorkerFixture.request("after"))])
            let records = try await fixture.outcomes { records in
                Set(records.compactMap { try? $0.outcome().requestID }) == ["before", "after"]
            }
            #expect(Set(try records.map { try $0.outcome().requestID }) == ["before", "after"])
            #expect(fixture.provider.targets.count == 2)
        }
        await fixture.stop()
    }

    /// The group reports that another process has replaced this static member: FENCED_INSTANCE_ID.
    @Test(
        .enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"),
        arguments: WorkerConfiguration.Delivery.allCases)
    func `A worker that another process has replaced ends`(delivery: WorkerConfiguration.Delivery) async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop) }
        let loop = try EventLoop()
        let lane = try fixture.lane(on: loop, groupInstanceID: "one") { $0.delivery = delivery }
        let working = Task { try await lane.run() }
        try await fixture.send([("k", WorkerFixture.request("before"))])
        #expect(try await fixture.outcomes { $0.count >= 1 }.count == 1)

        fixture.broker.embedded?.fail(.heartbeat, with: 82)
        let error = await #expect(throws: KafkaError.self) { try await working.value }
        #expect(error?.isMemberReplaced == true, "\(String(describing: error))")
        loop.stop()
        await fixture.stop()
    }

    @Test(.enabled(if: !TestBroker.isEmbedded, "the embedded broker does not apply the offsets of a transaction"))
    func `Offsets of an aborted transaction are not applied`() async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop) }
        try await fixture.send((0..<5).map { _ in ("k", WorkerFixture.request("r")) })
        let (first, second) = (
            try fixture.member(of: fixture.broker.name("g")), try fixture.member(of: fixture.broker.name("g"))
        )
        let (producer, listener) = (try await fixture.transactionalProducer(), WorkerFixture.Silent())
        try await first.subscribe(to: [fixture.topics.requests], listener: listener)
        let partition = try #require(try await first.records(max: 1).first).partition.id
        for (next, commits) in [(Int64(1), true), (3, false)] {
            try await producer.beginTransaction()
            let receipt = try await producer.handOver(ProducerRecord(topic: fixture.topics.results, value: [1]))
            let member = try #require(await first.membership)
            try await producer.sendOffsets([(partition: partition, next: CommittedOffset(next))], as: member)
            _ = try await producer.confirm(receipt)
            if commits { try await producer.commitTransaction() } else { try await producer.abortTransaction() }
        }
        await first.close()
        try await second.subscribe(to: [fixture.topics.requests], listener: listener)
        #expect(try await second.records(max: 1).first?.offset == 1)
        await second.close()
        let transactions = try fixture.broker.transactions(of: fixture.transactionalID)
        #expect(transactions.map(\.ended) == [.committed, .aborted])
        #expect(transactions.map { $0.offsets.map(\.next) } == [[1], [3]])
        #expect(transactions.map(\.records.count) == [1, 1])
        await producer.close()
        withExtendedLifetime(listener) {}
        await fixture.stop()
    }

    @Test func `Each request has exactly one outcome`() async throws {
        let fixture = try WorkerFixture { target in
            // Some requests finish long after the ones behind them.
            .init(body: WorkerFixture.shop, delay: .milliseconds(target.utf8.count % 7 == 0 ? 120 : 1))
        }
        let ids = (0..<300).map { "t\($0)" }
        try await fixture.send(
            ids.map { ($0, WorkerFixture.request($0, #","keyword":"\#($0)""#)) } + [("bad", "no JSON")])
        let records = try await fixture.run(expecting: ids.count + 1) { $0.delivery = .exactlyOnce }
        let found = try records.map { try $0.outcome().requestID }
        #expect(found.count == ids.count + 1)
        #expect(Set(found).isSuperset(of: ids))
        #expect(fixture.provider.targets.count == ids.count)
        // Outcomes are published in the order of their requests: only contiguous runs are released.
        for (partition, events) in Dictionary(grouping: records, by: \.partition.id)
        where partition.topic == fixture.topics.results {
            let sources = try events.sorted { $0.offset < $1.offset }.map { try #require(try $0.outcome().source) }
            for (_, run) in Dictionary(grouping: sources, by: \.partition) {
                #expect(run.map(\.offset) == run.map(\.offset).sorted())
            }
        }
        await fixture.stop()
    }

    /// A transaction that cannot be committed is aborted; its outcomes go into the next one without new calls.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A worker repeats an aborted transaction without further calls`() async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop) }
        // ILLEGAL_GENERATION: the transaction must be aborted.
        fixture.broker.embedded?.fail(.txnOffsetCommit, with: 22)
        let ids = (0..<20).map { "a\($0)" }
        try await fixture.send(ids.map { ($0, WorkerFixture.request($0, #","keyword":"\#($0)""#)) })
        let records = try await fixture.run(untilDone: ids) { $0.delivery = .exactlyOnce }
        // The embedded broker shows aborted records too, so there may be duplicates; each request caused one call.
        #expect(Set(try records.map { try $0.outcome().requestID }) == Set(ids))
        #expect(fixture.provider.targets.count == ids.count)
        await fixture.stop()
    }

    /// Unconfirmed outcomes are left to the next owner: a draining worker neither waits for brokers nor reports a failure.
    @Test(
        .timeLimit(.minutes(1)), .enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"),
        arguments: [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce])
    func `A worker without brokers ends soon after its grace`(delivery: WorkerConfiguration.Delivery) async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop, delay: .milliseconds(500)) }
        try await fixture.send((0..<5).map { ("k", WorkerFixture.request("r\($0)", #","keyword":"\#($0)""#)) })
        try await fixture.whileWorking {
            $0.delivery = delivery
            $0.shutdownGrace = .seconds(1)
        } _: { _ in
            try await eventually("all are being asked for", within: .seconds(30)) {
                fixture.provider.targets.count == 5
            }
            fixture.broker.embedded?.set(broker: 1, isUp: false)
        }
        await fixture.stop()
    }
}
