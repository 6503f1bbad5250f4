import CRdkafka
import EventLoop
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka

/// Data that other clients have written into a group, as librdkafka passes it on. For any bytes, no reads go
/// beyond their end, and the process goes on.
@Suite(.closesClients)
struct GroupBytesFuzzTests {
    private static let inputs = SplitMix64.inputs(usually: 15_000)
    private static let id = TopicPartition("t", 0)

    private static func damaged(_ seed: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = seed
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = [0, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            case 1: bytes.removeLast(bytes.count - place)
            case 2: bytes.insert(contentsOf: bytes.prefix(9), at: place)
            default: bytes[place] = .random(in: .min ... .max, using: &random)
            }
        }
        return bytes
    }

    @Test func `Any assignment of a member is read`() {
        let seed: [UInt8] =
            [
                0, 1, 0, 0, 0, 2, 0, 1, 0x61, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 1, 0, 0, 2, 0x62, 0x63, 0, 0, 0, 1, 0, 0, 0,
                0,
            ]
        var random = SplitMix64(state: 1)
        var empty = 0
        for _ in 0..<Self.inputs {
            let bytes = Self.damaged(seed, &random)
            let partitions = MemberAssignment.partitions(in: bytes)
            #expect(partitions.count <= bytes.count / 4, "\(bytes)")
            if partitions.isEmpty { empty += 1 }
        }
        #expect(min(empty, Self.inputs - empty) > Self.inputs / 10, "\(empty) of \(Self.inputs)")
    }

    @Test func `Any metadata of a group is read`() {
        let seed = Array("CGMDv2:".utf8) + [7, 0, 0, 0] + Array("workers\u{0}member-1\u{0}instance\u{0}".utf8)
        var random = SplitMix64(state: 2)
        var read = 0
        for _ in 0..<Self.inputs {
            let bytes = Self.damaged(seed, &random)
            let name = unsafe bytes.withUnsafeBytes { unsafe GroupMembership.name(in: $0) }
            if let name, name.generation == 7, name.memberID == "member-1" { read += 1 }
        }
        #expect(read > Self.inputs / 10)
    }

    /// librdkafka reports the length that a text has at the broker, but keeps only the part before its first zero byte.
    @Test func `The metadata of an offset ends at its first zero`() {
        var texts = ForgedTexts(seed: 3)
        for number in 0..<Self.inputs {
            var committed = texts.next()
            if number % 2 == 0 { committed.metadata += "\u{0}secret" }
            let list = PartitionList([(Self.id, committed)])
            let entry = unsafe list.pointer.pointee.elems[0]
            let expected = String(decoding: committed.metadata.utf8.prefix { $0 != 0 }, as: UTF8.self)
            // A broker gets as many bytes as the copy has.
            let size = unsafe entry.metadata_size
            #expect(size == expected.utf8.count)
            let sent = unsafe PartitionList.metadata(of: list.pointer)[Self.id]
            #expect(sent == expected)

            // A broker's answer has the length of the whole text.
            unsafe list.pointer.pointee.elems[0].metadata_size = committed.metadata.utf8.count
            let received = unsafe PartitionList.metadata(of: list.pointer)[Self.id]
            #expect(received == expected)
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded))
    func `Headers of any bytes are read`() async throws {
        let fixture = try KafkaFixture(partitions: 1)
        let producer = try fixture.producer()
        let headers = [
            RecordHeader("", []), RecordHeader("null", nil), RecordHeader("zero\u{0}inside", [0]),
            RecordHeader("é\u{301}", [0xFF, 0xC3, 0]),
            RecordHeader(String(repeating: "n", count: 30_000), Array(repeating: 7, count: 30_000)),
            RecordHeader("null", [1]),
        ]
        try await producer.send(
            ProducerRecord(topic: fixture.topic, partition: 0, value: Array("0".utf8), headers: headers))

        let consumer = try fixture.consumer()
        try await fixture.join(consumer)
        let record = try #require(try await consumer.read(1).first)
        #expect(record.headers.map(\.value) == headers.map(\.value))
        // Names are C strings, which end at a zero byte.
        #expect(
            record.headers.map(\.name)
                == headers.map { String(decoding: $0.name.utf8.prefix { $0 != 0 }, as: UTF8.self) })
    }
}
