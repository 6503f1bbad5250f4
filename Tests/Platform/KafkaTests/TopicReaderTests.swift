import Basics
import EventLoop
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

extension TopicReader {
    /// Returns one past the newest offset of each partition of a topic.
    fileprivate func ends(of topic: String, within bound: Duration) async throws -> [TopicPartition: Int64] {
        try await bounds(of: topic, within: bound).mapValues(\.upperBound)
    }
}

struct TopicReaderTests {
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func makeReader(_ broker: TestBroker) throws -> TopicReader {
        try TopicReader(ConsumerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
    }

    /// Runs `body` with a function that writes a number into a partition of the topic `t`.
    private func withProducer(
        _ broker: TestBroker,
        _ body: (_ put: (_ number: Int, _ partition: Int32) async throws -> Void) async throws -> Void
    ) async throws {
        let loop = try EventLoop()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        try await body { number, partition in
            try await producer.send(
                ProducerRecord(topic: broker.name("t"), partition: partition, value: Array("\(number)".utf8)))
        }
        await producer.close()
        loop.stop()
    }

    private func numbers(_ records: [ConsumerRecord]) -> [Int] {
        records.compactMap { Int(String(decoding: $0.value ?? [], as: UTF8.self)) }.sorted()
    }

    @Test func `Reader reads every partition to where it ended`() async throws {
        let broker = try TestBroker(topics: ["t": 4])
        try await withProducer(broker) { put in
            // One partition stays empty.
            for number in 0..<30 { try await put(number, Int32(number % 3)) }
            let reader = try makeReader(broker)
            let ends = try await reader.ends(of: broker.name("t"), within: .seconds(20))
            #expect(ends.values.sorted() == [0, 10, 10, 10])

            // Later records are beyond the requested ends.
            for number in 100..<106 { try await put(number, Int32(number % 3)) }
            var records: [ConsumerRecord] = []
            try await reader.read(upTo: ends, timeout: .seconds(20)) { record in
                records.append(record)
                return true
            }
            #expect(numbers(records) == Array(0..<30))
        }
    }

    @Test func `Reader begins at the offsets that it is given`() async throws {
        let broker = try TestBroker(topics: ["t": 3])
        try await withProducer(broker) { put in
            for number in 0..<20 { try await put(number, Int32(number % 2)) }
            let reader = try makeReader(broker)
            let ends = try await reader.ends(of: broker.name("t"), within: .seconds(20))
            func read(from starts: [TopicPartition: Int64]) async throws -> [Int] {
                var records: [ConsumerRecord] = []
                try await reader.read(from: starts, upTo: ends, timeout: .seconds(20)) { record in
                    records.append(record)
                    return true
                }
                return numbers(records)
            }

            // The second partition begins at its end.
            let starts = [TopicPartition(broker.name("t"), 0): Int64(7), TopicPartition(broker.name("t"), 1): 10]
            #expect(try await read(from: starts) == [14, 16, 18])
            #expect(try await read(from: [:]) == Array(0..<20), "the same reader begins anew")
        }
    }

    @Test func `Reader ends at once when nothing is there`() async throws {
        let broker = try TestBroker(topics: ["t": 3])
        let reader = try makeReader(broker)
        let ends = try await reader.ends(of: broker.name("t"), within: .seconds(20))

        try await reader.read(upTo: ends, timeout: .seconds(20)) { _ in
            Issue.record("a record of an empty topic")
            return true
        }
    }

    @Test func `Reader stops when its caller has enough`() async throws {
        let broker = try TestBroker(topics: ["t": 1])
        try await withProducer(broker) { put in
            for number in 0..<5 { try await put(number, 0) }
            let reader = try makeReader(broker)
            let ends = try await reader.ends(of: broker.name("t"), within: .seconds(20))

            var count = 0
            try await reader.read(upTo: ends, timeout: .seconds(20)) { _ in
                count += 1
                return count < 2
            }
            #expect(count == 2)
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded)) func `Reader waits for a slow broker and fails behind its patience`()
        async throws
    {
        let broker = try TestBroker(topics: ["t": 1])
        let embedded = try #require(broker.embedded)
        try await withProducer(broker) { put in
            for number in 0..<5 { try await put(number, 0) }
            let ends = try await makeReader(broker).ends(of: broker.name("t"), within: .seconds(20))

            try embedded.fail(.fetch, with: [0], broker: 1, delay: .seconds(2))
            var records: [ConsumerRecord] = []
            try await makeReader(broker).read(upTo: ends, timeout: .seconds(20)) { record in
                records.append(record)
                return true
            }
            #expect(numbers(records) == Array(0..<5))

            try embedded.fail(.fetch, with: [0, 0, 0], broker: 1, delay: .seconds(30))
            let begin = Instant.now
            let error = await #expect(throws: KafkaError.self) {
                try await makeReader(broker).read(upTo: ends, timeout: .seconds(2)) { _ in true }
            }
            #expect(error?.kind == .timedOut)
            #expect(begin.duration(to: .now) < .seconds(20), "the answer comes after 30 s")
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded)) func `Reader fails in time when a broker does not tell its ends`()
        async throws
    {
        let broker = try TestBroker(topics: ["t": 2])
        let embedded = try #require(broker.embedded)
        try embedded.fail(.listOffsets, with: [0, 0, 0], broker: 1, delay: .seconds(30))

        let reader = try makeReader(broker)
        let begin = Instant.now
        await #expect(throws: KafkaError.self) {
            _ = try await reader.ends(of: broker.name("t"), within: .seconds(2))
        }
        #expect(begin.duration(to: .now) < .seconds(20), "the end of a partition was waited for beyond the bound")
    }

    /// GROUP_AUTHORIZATION_FAILED for every request about a group, as from brokers on which this user has no rights on groups.
    @Test(.enabled(if: TestBroker.isEmbedded)) func `Reader needs no right on any group`() async throws {
        let broker = try TestBroker(topics: ["t": 2])
        let embedded = try #require(broker.embedded)
        for api in [EmbeddedBroker.API.findCoordinator, .offsetFetch, .offsetCommit, .joinGroup] {
            embedded.fail(api, with: 30, count: 1000)
        }

        try await withProducer(broker) { put in
            for number in 0..<6 { try await put(number, Int32(number % 2)) }
            let reader = try makeReader(broker)
            let ends = try await reader.ends(of: broker.name("t"), within: .seconds(20))
            for _ in 0..<2 {
                var records: [ConsumerRecord] = []
                try await reader.read(upTo: ends, timeout: .seconds(20)) { record in
                    records.append(record)
                    return true
                }
                #expect(numbers(records) == Array(0..<6))
            }

            // A client with a group would learn of the rejection within half a second, by a failure of the next call.
            try await reader.open([broker.name("t")], at: .end, within: .seconds(20))
            #expect(try await reader.records(max: 10, within: .seconds(2)).isEmpty)
            try await put(6, 0)
            #expect(numbers(try await reader.records(max: 10, within: .seconds(20))) == [6])
        }
    }
}
