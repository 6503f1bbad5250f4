import EventContract
import Kafka
import Testing

@testable import locsearch

/// The time for which the console keeps an outcome that it has read before its request, and the times of requests.
struct EarlyOutcomesTests {
    private static func record(_ topic: String, partition: Int32 = 0, offset: Int64) -> ConsumerRecord {
        ConsumerRecord(
            partition: AssignedPartition(TopicPartition(topic, partition), epoch: 0), offset: offset, timestamp: 1)
    }

    private static func request(_ offset: Int64, partition: Int32 = 0) -> SourcePosition {
        SourcePosition(topic: "requests", partition: partition, offset: offset)
    }

    @Test func `An outcome waits until its request is read`() {
        var (early, times) = (EarlyOutcomes(mostTurns: 10), RequestTimes())
        times.note(Self.record("requests", offset: 6))
        early.add(Self.record("results", offset: 0), of: Self.request(7))
        early.add(Self.record("results", offset: 1), of: Self.request(8))
        #expect(early.takeReady(times).isEmpty)

        times.note(Self.record("requests", offset: 7))
        #expect(early.takeReady(times).map(\.offset) == [0])
        #expect(early.takeReady(times).isEmpty)
        times.note(Self.record("requests", offset: 8))
        #expect(early.takeReady(times).map(\.offset) == [1])
    }

    @Test func `An outcome without a request waits for a limited number of reads`() {
        var early = EarlyOutcomes(mostTurns: 3)
        early.add(Self.record("results", offset: 0), of: Self.request(.max, partition: 9))
        let times = RequestTimes()
        #expect((0..<4).map { _ in early.takeReady(times).count } == [0, 0, 1, 0])
    }

    @Test func `A request is still to come only beyond the offsets read`() {
        var times = RequestTimes(most: 2)
        #expect(times.isYetToCome(Self.request(0)), "nothing of the partition has been read")
        for offset: Int64 in [4, 5, 6] { times.note(Self.record("requests", offset: offset)) }
        #expect(!times.isYetToCome(Self.request(3)))
        #expect(!times.isYetToCome(Self.request(4)), "it was forgotten")
        #expect(!times.isYetToCome(Self.request(6)))
        #expect(times.isYetToCome(Self.request(7)))
        #expect(times.isYetToCome(Self.request(6, partition: 1)))
    }

    // MARK: - The times of requests

    private func time(of offset: Int64, in times: RequestTimes, topic: String = "requests") -> WallTime? {
        times[SourcePosition(topic: topic, partition: 3, offset: offset)]
    }

    @Test func `The times of the newest requests are kept`() {
        var times = RequestTimes(most: 100)
        for offset in 0..<1000 as Range<Int64> {
            times.note(partition: TopicPartition("requests", 3), offset: offset, WallTime(milliseconds: offset))
        }
        #expect(times.count == 100)
        #expect(time(of: 899, in: times) == nil)
        #expect(time(of: 900, in: times) == WallTime(milliseconds: 900))
        #expect(time(of: 999, in: times) == WallTime(milliseconds: 999))
        #expect(times[Self.request(999, partition: 4)] == nil)
        #expect(time(of: 999, in: times, topic: "other") == nil)
    }

    @Test func `A request that is read twice has one entry`() {
        var times = RequestTimes(most: 2)
        for _ in 0..<10 { times.note(partition: TopicPartition("requests", 3), offset: 1, WallTime(milliseconds: 1)) }
        times.note(partition: TopicPartition("requests", 3), offset: 2, WallTime(milliseconds: 2))
        #expect(time(of: 1, in: times) != nil)
        #expect(time(of: 2, in: times) != nil)
    }
}
