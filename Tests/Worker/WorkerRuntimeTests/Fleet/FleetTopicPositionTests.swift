import Kafka
import Testing

@testable import QuotaSharing
@testable import WorkerRuntime

/// The read position in the fleet topic.
struct FleetTopicPositionTests {
    private static let partition = TopicPartition("fleet", 0)

    private static func record(_ offset: Int64, partition: Int32 = 0) -> ConsumerRecord {
        ConsumerRecord(
            partition: AssignedPartition(TopicPartition("fleet", partition), epoch: 0), offset: offset,
            timestamp: nil, key: nil, value: Array("{}".utf8), headers: [])
    }

    private static func records(_ offsets: Range<Int64>) -> TopicReader.News {
        TopicReader.News(records: offsets.map { record($0) })
    }

    /// The last offset of a topic may be the end of a transaction, which readers do not see.
    @Test func `An end without a record counts as read`() {
        var position = FleetTopicPosition(decode: FleetCodec(fleet: "f").message)
        _ = position.begin(at: 3, end: 6)
        let taken = position.take(
            TopicReader.News(records: [Self.record(3), Self.record(4)], ends: [Self.partition: 6]))
        #expect(taken.map(\.offset) == [3, 4, 5])
        #expect(taken.allSatisfy { $0.isOld })

        let again = position.take(TopicReader.News(records: [], ends: [Self.partition: 6]))
        #expect(again.isEmpty)
    }

    @Test func `Records of other partitions and records that were read are left out`() {
        var position = FleetTopicPosition(decode: FleetCodec(fleet: "f").message)
        _ = position.begin(at: 0, end: 0)
        let news = TopicReader.News(records: [Self.record(0), Self.record(0, partition: 1), Self.record(0)])
        let taken = position.take(news)
        #expect(taken.map(\.offset) == [0])
    }

    @Test func `A recreated topic is noticed`() {
        var position = FleetTopicPosition(decode: FleetCodec(fleet: "f").message)
        let isRemadeAtFirst = position.begin(at: 0, end: 5)
        _ = position.take(Self.records(0..<5))
        let isRemadeLater = position.begin(at: 0, end: 7)
        _ = position.take(Self.records(0..<7))
        #expect(!isRemadeAtFirst && !isRemadeLater)

        // It ends before the read position.
        let isRemade = position.begin(at: 0, end: 2)
        _ = position.take(Self.records(0..<2))
        #expect(isRemade)

        // It was missing in between, and is longer by now.
        position.noteDeleted()
        let isRemadeAgain = position.begin(at: 0, end: 9)
        #expect(isRemadeAgain)
    }

    /// The topic was deleted before any of it was read, and the new one has fewer records: none of its offsets is missing.
    @Test func `A topic that ends before its first end was recreated`() {
        var position = FleetTopicPosition(decode: FleetCodec(fleet: "f").message)
        _ = position.begin(at: 0, end: 5)
        #expect(position.endsEarly(in: TopicReader.News(records: [Self.record(0)], ends: [Self.partition: 1])))
        #expect(!position.endsEarly(in: TopicReader.News(ends: [Self.partition: 5])))
        #expect(!position.endsEarly(in: TopicReader.News(ends: [TopicPartition("fleet", 1): 0])))
        #expect(!position.endsEarly(in: Self.records(0..<2)))

        let isRemade = position.begin(at: 0, end: 1)
        #expect(isRemade)
    }

    /// When the topic is deleted, it is being read again from its beginning, so the position is at its start.
    @Test func `A recreated topic is noticed before it is read again`() {
        var position = FleetTopicPosition(decode: FleetCodec(fleet: "f").message)
        _ = position.begin(at: 0, end: 5)
        _ = position.take(Self.records(0..<5))
        _ = position.begin(at: 0, end: 5)
        position.noteDeleted()
        let isRemade = position.begin(at: 0, end: 9)
        #expect(isRemade)
    }
}
