import Basics
import EventLoop
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

@Suite(.closesClients)
struct TopicReaderTests {
    private func makeReader(_ fixture: KafkaFixture) throws -> TopicReader {
        try TopicReader(ConsumerConfiguration(bootstrapServers: fixture.broker.bootstrapServers), log: .silent)
    }

    /// Writes numbers, in turn into the first partitions of the topic.
    private func put(_ numbers: Range<Int>, partitions: Int32, with producer: KafkaProducer, _ topic: String)
        async throws
    {
        for number in numbers {
            try await producer.send(
                ProducerRecord(topic: topic, partition: Int32(number) % partitions, value: Array("\(number)".utf8)))
        }
    }

    private func ends(_ reader: TopicReader, _ fixture: KafkaFixture) async throws -> [TopicPartition: Int64] {
        try await reader.bounds(of: fixture.topic, within: .seconds(20)).mapValues(\.upperBound)
    }

    private func numbers(_ records: [ConsumerRecord]) -> [Int] {
        records.compactMap { Int(String(decoding: $0.value ?? [], as: UTF8.self)) }.sorted()
    }

    private func read(
        _ reader: TopicReader, from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64]
    ) async throws -> [Int] {
        var records: [ConsumerRecord] = []
        try await reader.read(from: starts, upTo: ends, timeout: .seconds(20)) { record in
            records.append(record)
            return true
        }
        return numbers(records)
    }

    @Test func `The reader reads every partition up to the given end`() async throws {
        let fixture = try KafkaFixture(partitions: 4)
        let (producer, reader) = (try fixture.producer(), try makeReader(fixture))
        // One partition stays empty.
        try await put(0..<30, partitions: 3, with: producer, fixture.topic)
        let ends = try await ends(reader, fixture)
        #expect(ends.values.sorted() == [0, 10, 10, 10])

        // Later records are beyond the requested ends.
        try await put(100..<106, partitions: 3, with: producer, fixture.topic)
        #expect(try await read(reader, upTo: ends) == Array(0..<30))
    }

    @Test func `The reader begins at the given offsets`() async throws {
        let fixture = try KafkaFixture(partitions: 3)
        try await put(0..<20, partitions: 2, with: try fixture.producer(), fixture.topic)
        let reader = try makeReader(fixture)
        let ends = try await ends(reader, fixture)

        // The second partition begins at its end.
        let starts = [TopicPartition(fixture.topic, 0): Int64(7), TopicPartition(fixture.topic, 1): 10]
        #expect(try await read(reader, from: starts, upTo: ends) == [14, 16, 18])
        #expect(try await read(reader, upTo: ends) == Array(0..<20), "the same reader begins anew")
    }

    @Test func `Reading an empty topic ends at once`() async throws {
        let fixture = try KafkaFixture(partitions: 3)
        let reader = try makeReader(fixture)
        #expect(try await read(reader, upTo: try await ends(reader, fixture)) == [])
    }

    @Test func `The reader stops when its caller has enough`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        // Each in its own batch: Tansu 0.6 returns the number of batches as a partition's end.
        for _ in 0..<5 { try await fixture.fill(1, partition: 0, with: producer) }
        let reader = try makeReader(fixture)

        var count = 0
        try await reader.read(upTo: try await ends(reader, fixture), timeout: .seconds(20)) { _ in
            count += 1
            return count < 2
        }
        #expect(count == 2)
    }

    @Test(.enabled(if: TestBroker.isEmbedded))
    func `The reader waits for a slow broker and fails after its timeout`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let embedded = try #require(fixture.broker.embedded)
        try await fixture.fill(5, partition: 0, with: try fixture.producer())
        let ends = try await ends(try makeReader(fixture), fixture)

        try embedded.fail(.fetch, with: [0], broker: 1, delay: .seconds(2))
        #expect(try await read(try makeReader(fixture), upTo: ends) == Array(0..<5))

        try embedded.fail(.fetch, with: [0, 0, 0], broker: 1, delay: .seconds(30))
        let begin = Instant.now
        let error = await #expect(throws: KafkaError.self) {
            try await makeReader(fixture).read(upTo: ends, timeout: .seconds(2)) { _ in true }
        }
        #expect(error?.kind == .timedOut)
        #expect(begin.duration(to: .now) < .seconds(20), "the answer comes after 30 s")
    }

    @Test(.enabled(if: TestBroker.isEmbedded))
    func `The reader fails in time when a broker does not report its ends`() async throws {
        let fixture = try KafkaFixture(partitions: 2)
        let embedded = try #require(fixture.broker.embedded)
        try embedded.fail(.listOffsets, with: [0, 0, 0], broker: 1, delay: .seconds(30))

        let reader = try makeReader(fixture)
        let begin = Instant.now
        await #expect(throws: KafkaError.self) { _ = try await reader.bounds(of: fixture.topic, within: .seconds(2)) }
        #expect(begin.duration(to: .now) < .seconds(20), "the end of a partition was waited for beyond the bound")
    }

    /// GROUP_AUTHORIZATION_FAILED for every request about a group, as from brokers on which this user has no rights on groups.
    @Test(.enabled(if: TestBroker.isEmbedded)) func `The reader needs no right on any group`() async throws {
        let fixture = try KafkaFixture(partitions: 2)
        let embedded = try #require(fixture.broker.embedded)
        for api in [EmbeddedBroker.API.findCoordinator, .offsetFetch, .offsetCommit, .joinGroup] {
            embedded.fail(api, with: 30, count: 1000)
        }

        let (producer, reader) = (try fixture.producer(), try makeReader(fixture))
        try await put(0..<6, partitions: 2, with: producer, fixture.topic)
        let ends = try await ends(reader, fixture)
        for _ in 0..<2 { #expect(try await read(reader, upTo: ends) == Array(0..<6)) }

        // A client with a group would learn of the rejection within half a second, by a failure of the next call.
        try await reader.open([fixture.topic], at: .end, within: .seconds(20))
        #expect(try await reader.records(max: 10, within: .seconds(2)).isEmpty)
        try await put(6..<7, partitions: 1, with: producer, fixture.topic)
        #expect(numbers(try await reader.records(max: 10, within: .seconds(20))) == [6])
    }
}
