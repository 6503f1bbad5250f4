import EventContract
import Kafka
import Testing

@testable import locsearch

/// The times of requests, as the console remembers them.
struct RequestTimesTests {
    private func time(of offset: Int64, in times: RequestTimes) -> WallTime? {
        times[SourcePosition(topic: "requests", partition: 3, offset: offset)]
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
        #expect(times[SourcePosition(topic: "requests", partition: 4, offset: 999)] == nil)
    }

    @Test func `A request that is read twice has one entry`() {
        var times = RequestTimes(most: 2)
        for _ in 0..<10 { times.note(partition: TopicPartition("requests", 3), offset: 1, WallTime(milliseconds: 1)) }
        times.note(partition: TopicPartition("requests", 3), offset: 2, WallTime(milliseconds: 2))
        #expect(time(of: 1, in: times) != nil)
        #expect(time(of: 2, in: times) != nil)
    }
}
