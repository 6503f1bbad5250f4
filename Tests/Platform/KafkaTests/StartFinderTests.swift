import KafkaTestSupport
import Synchronization
import Testing

@testable import Kafka

/// Start positions with a broker that supports look-ups by time; the embedded one does not.
struct StartFinderTests {
    /// A broker whose partitions have records with the given timestamps, at offsets from 100.
    private final class FakeBroker: OffsetBroker {
        private static let first: Int64 = 100
        private let timestamps: [TopicPartition: [Int64]]
        private let kept: Mutex<[TopicPartition: CommittedOffset]>
        private let commitError: KafkaError?
        private let partitions: Int

        init(
            timestamps: [TopicPartition: [Int64]], committed: [TopicPartition: Int64] = [:], note: String = "",
            partitions: Int = 3, commitError: KafkaError? = nil
        ) {
            self.partitions = partitions
            self.timestamps = timestamps
            self.commitError = commitError
            kept = Mutex(committed.mapValues { CommittedOffset($0, fields: note.isEmpty ? [] : [note]) })
        }

        var committed: [TopicPartition: Int64] { kept.withLock { $0.mapValues(\.offset) } }

        func commits(
            of ids: [TopicPartition], within bound: Duration
        ) async throws(KafkaError) -> [TopicPartition: CommittedOffset] {
            kept.withLock { kept in kept.filter { ids.contains($0.key) } }
        }

        func partitionCount(of topic: String) async -> Int? { partitions }

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

        func commit(
            _ offsets: [TopicPartition: CommittedOffset], within bound: Duration
        ) async throws(KafkaError) {
            if let commitError { throw commitError }
            kept.withLock { kept in kept.merge(offsets) { _, new in new } }
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
    func `New group begins where the setting says and commits that`(
        start: StartPosition, expected: [TopicPartition: Int64]
    ) async throws {
        let broker = FakeBroker(timestamps: Self.timestamps)
        let finder = StartFinder(broker: broker, startFrom: start)

        let found = try await finder.commitStarts(of: [Self.a, Self.b, Self.c])

        #expect(found.mapValues(\.offset) == expected)
        #expect(broker.committed == expected)
    }

    @Test func `Partition with committed offset is left alone`() async throws {
        let broker = FakeBroker(timestamps: Self.timestamps, committed: [Self.a: 101])
        let finder = StartFinder(broker: broker, startFrom: .latest)

        _ = try await finder.commitStarts(of: [Self.a, Self.b])

        #expect(broker.committed[Self.a] == 101)
    }

    static let positions: [StartPosition] = [.latest, .time(milliseconds: 3001)]

    /// The records of a partition that was added to the topic were written for the group that reads it.
    @Test(arguments: positions)
    func `Partition that is added later is read from its beginning`(start: StartPosition) async throws {
        let broker = FakeBroker(timestamps: Self.timestamps, partitions: 1)
        _ = try await StartFinder(broker: broker, startFrom: start).commitStarts(of: [Self.a])
        let grown = FakeBroker(
            timestamps: Self.timestamps, committed: broker.committed, note: GroupHistory.note(partitions: 1),
            partitions: 3)

        let found = try await StartFinder(broker: grown, startFrom: start).commitStarts(of: [Self.a, Self.b, Self.c])

        #expect(found.mapValues(\.offset) == [Self.b: 100, Self.c: 100])
        #expect(grown.committed == [Self.a: 103, Self.b: 100, Self.c: 100])
    }

    /// After requests are done, there is no note of the topic's state at the beginning of the group.
    @Test(arguments: positions)
    func `Partition is read from its beginning where the group has worked for long`(start: StartPosition) async throws {
        let broker = FakeBroker(timestamps: Self.timestamps, committed: [Self.a: 103])

        let found = try await StartFinder(broker: broker, startFrom: start).commitStarts(of: [Self.b])

        #expect(found.mapValues(\.offset) == [Self.b: 100])
    }

    /// The members of a new group look up their own partitions at the same time: a commit of one must not make the
    /// other's partitions count as added later.
    @Test func `Second member of a new group begins where the setting says`() async throws {
        let broker = FakeBroker(timestamps: Self.timestamps)
        let finder = StartFinder(broker: broker, startFrom: .latest)

        let first = try await finder.commitStarts(of: [Self.a])
        let second = try await finder.commitStarts(of: [Self.b, Self.c])

        #expect(first.mapValues(\.offset) == [Self.a: 103])
        #expect(second.mapValues(\.offset) == [Self.b: 101, Self.c: 100])
    }

    static let note = GroupHistory.note(partitions: 3)
    static let starts: [(StartPosition, ReadingStart)] = [
        (.earliest, .beginning), (.latest, .committed(CommittedOffset(101, fields: [note]))),
        (.time(milliseconds: 500), .committed(CommittedOffset(100, fields: [note]))),
    ]

    /// No start is left to librdkafka, which may mistake an old answer for a new one.
    @Test(arguments: starts)
    func `Every partition has a start`(position: StartPosition, expected: ReadingStart) async throws {
        let broker = FakeBroker(timestamps: Self.timestamps, committed: [Self.a: 101], note: Self.note)
        let finder = StartFinder(broker: broker, startFrom: position)

        let found = try await finder.starts(of: [Self.a, Self.b], within: .seconds(1))

        #expect(found == [Self.a: .committed(CommittedOffset(101, fields: [Self.note])), Self.b: expected])
    }

    @Test func `Start that cannot be committed is not used`() async {
        let refusal = KafkaError(.retriable, code: 27, "the group is rebalancing")
        let broker = FakeBroker(timestamps: Self.timestamps, commitError: refusal)
        let finder = StartFinder(broker: broker, startFrom: .latest)

        await #expect(throws: refusal) { _ = try await finder.commitStarts(of: [Self.a]) }
    }
}
