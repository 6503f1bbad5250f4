import EventLoop
internal import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// librdkafka's statistics, from real clients and in forms that future versions may have.
@Suite(.closesClients)
struct StatisticsTests {
    @Test func `Clients report on their brokers and their queues`() async throws {
        let fixture = try KafkaFixture(partitions: 1, others: ["u": 1])
        let producer = try fixture.producer { $0.statisticsInterval = .milliseconds(200) }
        let consumer = try fixture.consumer { $0.statisticsInterval = .milliseconds(200) }
        try await fixture.fill(300, partition: 0, with: producer)
        try await fixture.join(consumer)

        // A report covers its own interval only, so something is sent in each.
        try await eventually("the producer has measured round trips") {
            try await producer.send(ProducerRecord(topic: fixture.broker.name("u"), value: [1]))
            return producer.statistics?.brokers.contains { $0.slowRoundTrip > .zero }
                ?? false
        }
        try await eventually("the consumer has fetched what nobody reads") {
            consumer.statistics.map { $0.fetchedRecords > 0 && !$0.brokers.isEmpty } ?? false
        }
        _ = try await consumer.read(300)
        // The end of the partition is an entry of the queue, too.
        try await eventually("no record is left") { consumer.statistics.map { $0.fetchedRecords <= 1 } ?? false }
    }

    @Test func `A client without an interval reports nothing`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        try await fixture.fill(1, partition: 0, with: producer)

        #expect(producer.statistics == nil)
        #expect(try ProducerConfiguration(bootstrapServers: "b").librdkafka(.running)["statistics.interval.ms"] == nil)
    }

    // MARK: - The text

    private static let text = """
        {"name":"rdkafka#consumer-1","type":"consumer","ts":1,"brokers":{
         "h:1/2":{"name":"h:1/2","nodeid":2,"source":"learned","state":"UP","outbuf_cnt":3,"waitresp_cnt":1,
          "rtt":{"min":900,"max":4000,"avg":1500,"p99":3900,"cnt":7},"throttle":{"min":0,"max":250,"avg":20,"cnt":7},
          "toppars":{"t-0":{"topic":"t","partition":0}}},
         "h:2/1":{"nodeid":1,"state":"UP","rtt":{"avg":10,"p99":20}},
         "h:3/3":{"nodeid":3,"state":"CONNECT","rtt":{"avg":10}},
         "GroupCoordinator":{"nodeid":-1,"state":"UP"}},
        "topics":{"t":{"topic":"t","partitions":{"0":{"fetchq_cnt":5,"fetchq_size":500},"-1":{"fetchq_cnt":0}}},
         "u":{"partitions":{"1":{"fetchq_cnt":2,"fetchq_size":30}}}},"cgrp":{"state":"up"},"rx":[1,2]}
        """

    @Test func `The statistics are read as librdkafka documents them`() throws {
        let statistics = try ClientStatistics(json: Array(Self.text.utf8).span)

        #expect(statistics.fetchedRecords == 7)
        #expect(statistics.brokers.map(\.id) == [1, 2], "only brokers with a connection and an id of their own")
        var second = ClientStatistics.Broker(id: 2)
        second.slowRoundTrip = .microseconds(3900)
        second.throttle = .milliseconds(250)
        #expect(statistics.brokers.last == second)
    }

    @Test(arguments: [
        "{}", "[]", "null", #"{"brokers":7,"topics":[]}"#, #"{"brokers":{"a":null,"b":{"nodeid":"x","rtt":[]}}}"#,
        #"{"brokers":{"a":{"nodeid":-9223372036854775808,"state":"UP","outbuf_cnt":-5}}}"#,
        #"{"topics":{"t":{"partitions":{"0":{"fetchq_cnt":1e300,"fetchq_size":-1}}}}}"#,
    ])
    func `Statistics of another form are empty`(text: String) throws {
        #expect(try ClientStatistics(json: Array(text.utf8).span) == ClientStatistics())
    }

    @Test func `A text that is no JSON is refused wherever it ends`() {
        let bytes = Array(Self.text.utf8)
        for end in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(throws: (any Error).self) { try ClientStatistics(json: Array(bytes[..<end]).span) }
        }
    }
}
