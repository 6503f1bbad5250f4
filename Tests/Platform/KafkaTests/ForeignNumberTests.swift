import EventLoop
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// Arbitrary numbers in records and from brokers.
@Suite(.closesClients)
struct ForeignNumberTests {
    /// A producer may write any timestamp into its records, and the brokers keep it. The report about the
    /// backlog subtracts it from the time.
    @Test(.enabled(if: TestBroker.isEmbedded), arguments: [Int64.min, -1, 1, Int64.max])
    func `A record with any timestamp is read`(timestamp: Int64) async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        try await producer.send(
            ProducerRecord(topic: fixture.topic, partition: 0, value: Array("0".utf8), timestamp: timestamp))

        let consumer = try fixture.consumer()
        try await fixture.join(consumer)
        let record = try #require(try await consumer.read(1).first)
        #expect(record.timestamp.map(WallTime.range.contains) ?? true)
    }

    @Test(arguments: [Int64.min, -1001, 0, 41, Int64.max])
    func `Offsets after any offset can be computed`(offset: Int64) {
        let bounded = OffsetRange.bounded(offset)
        let difference = (bounded + 1).subtractingReportingOverflow(OffsetRange.bounded(.min))
        #expect(!difference.overflow)
        #expect(offset.magnitude > 1 << 61 || bounded == offset)
    }

    @Test func `Statistics with any numbers can be summed`() throws {
        let broker =
            #"{"nodeid":1,"state":"UP","outbuf_cnt":9223372036854775807,"waitresp_cnt":-9223372036854775808,"#
            + #""rtt":{"avg":9223372036854775807,"p99":9223372036854775807},"throttle":{"max":9223372036854775807}}"#
        let partition = #"{"fetchq_cnt":9223372036854775807,"fetchq_size":9223372036854775807}"#
        let text =
            #"{"brokers":{"a":\#(broker),"b":\#(broker)},"topics":{"t":{"partitions":{"0":\#(partition),"1":\#(partition)}}}}"#
        let statistics = try ClientStatistics(json: Array(text.utf8).span)

        #expect(statistics.brokers.count == 2)
        #expect(statistics.brokers[0].slowRoundTrip > .seconds(86_400))
        #expect(statistics.fetchedRecords == 2 << 48)
    }

    /// A tool's timeout may be set to years, and the bridge adds a second to it.
    @Test(.enabled(if: TestBroker.isEmbedded))
    func `A configuration can be requested with a timeout of any length`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let admin = try TopicAdmin(
            ConsumerConfiguration(bootstrapServers: fixture.broker.bootstrapServers), log: fixture.log)
        do throws(KafkaError) {
            _ = try await admin.configuration(of: fixture.topic, within: .seconds(3_155_760_000))
        } catch {
            // Not every library's embedded broker describes topics.
            #expect(error.kind != .timedOut)
        }
    }
}
