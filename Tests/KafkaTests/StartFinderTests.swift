import Synchronization
import Testing

@testable import Kafka

/// Where reading begins, on a broker that looks offsets up by time: the embedded one does not.
struct StartFinderTests {
    /// A broker whose partitions hold records of given timestamps, at offsets that begin with 100.
    private final class FakeBroker: OffsetBroker {
        private static let first: Int64 = 100
        private let timestamps: [TopicPartition: [Int64]]
        private let kept: Mutex<[TopicPartition: Int64]>
        private let commitError: KafkaError?

        init(
            timestamps: [TopicPartition: [Int64]], committed: [TopicPartition: Int64] = [:],
            commitError: KafkaError? = nil
        ) {
            self.timestamps = timestamps
            self.commitError = commitError
            kept = Mutex(committed)
        }

        var committed: [TopicPartition: Int64] { kept.withLock { $0 } }

        func committedOffsets(
            of ids: [TopicPartition], within bound: Duration
        ) async throws(KafkaError) -> [TopicPartition: Int64] {
            committed.filter { ids.contains($0.key) }
        }

        func offsets(
            _ query: OffsetQuery, of ids: [TopicPartition], within bound: Duration
        ) async throws(KafkaError) -> [TopicPartition: Int64] {
            var offsets: [TopicPartition: Int64] = [:]
            for id in ids {
                let records = timestamps[id] ?? []
                switch query {
                case .beginning: offsets[id] = Self.first
                case .end: offsets[id] = Self.first + Int64(records.count)
                case .time(let time):
                    offsets[id] = records.firstIndex { $0 >= time }.map { Self.first + Int64($0) }
                }
            }
            return offsets
        }

        func commit(_ offsets: [TopicPartition: Int64], within bound: Duration) async throws(KafkaError) {
            if let commitError { throw commitError }
            kept.withLock { $0.merge(offsets) { _, new in new } }
        }
    }

    private static let (a, b, c) = (TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("t", 2))
    private static let timestamps = [a: [1000, 2000, 3000], b: [1000], c: []] as [TopicPartition: [Int64]]

    static let cases: [(StartPosition, [TopicPartition: Int64])] = [
        (.earliest, [a: 100, b: 100, c: 100]),
        (.latest, [a: 103, b: 101, c: 100]),
        (.time(milliseconds: 0), [a: 100, b: 100, c: 100]),
        (.time(milliseconds: 1500), [a: 101, b: 101, c: 100]),
        (.time(milliseconds: 3000), [a: 102, b: 101, c: 100]),
        (.time(milliseconds: 3001), [a: 103, b: 101, c: 100]),
    ]

    @Test(arguments: cases)
    func newGroupBeginsWhereTheSettingSaysAndCommitsThat(
        start: StartPosition, expected: [TopicPartition: Int64]
    ) async throws {
        let broker = FakeBroker(timestamps: Self.timestamps)
        let finder = StartFinder(broker: broker, startFrom: start)

        let found = try await finder.commitStarts(of: [Self.a, Self.b, Self.c])

        #expect(found == expected)
        #expect(broker.committed == expected)
    }

    @Test func partitionWithCommittedOffsetIsLeftAlone() async throws {
        let broker = FakeBroker(timestamps: Self.timestamps, committed: [Self.a: 101])
        let finder = StartFinder(broker: broker, startFrom: .latest)

        let found = try await finder.commitStarts(of: [Self.a, Self.b])

        #expect(found == [Self.b: 101])
        #expect(broker.committed == [Self.a: 101, Self.b: 101])
    }

    @Test func startThatCannotBeCommittedIsNotUsed() async {
        let refusal = KafkaError(.retriable, code: 27, "the group is rebalancing")
        let broker = FakeBroker(timestamps: Self.timestamps, commitError: refusal)
        let finder = StartFinder(broker: broker, startFrom: .latest)

        await #expect(throws: refusal) { _ = try await finder.commitStarts(of: [Self.a]) }
    }
}
