internal import CRdkafka
public import Kafka
internal import TestSupport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The broker of one test. By default this is an embedded broker for this test only.
///
/// `LOCSEARCH_TEST_BROKER` may name a running broker (`host:port`) instead, which all tests share. Each test then uses unique names.
package struct TestBroker: Sendable {
    private static let shared = ProcessInfo.processInfo.environment["LOCSEARCH_TEST_BROKER"]
    /// Whether tests have embedded brokers, which can inject failures and drop the offsets of transactions.
    package static var isEmbedded: Bool { shared == nil }

    package let bootstrapServers: String
    /// `nil` on a shared broker.
    package let embedded: EmbeddedBroker?
    private let suffix: String

    /// - Parameter topics: the partition counts by topic; `name(_:)` returns the full name of each topic.
    package init(brokers: Int = 1, topics: [String: Int] = [:]) throws {
        let suffix = "-\(UInt32.random(in: .min ... .max))"
        self.suffix = suffix
        let named = Dictionary(uniqueKeysWithValues: topics.map { ($0.key + suffix, $0.value) })
        if let shared = Self.shared {
            (bootstrapServers, embedded) = (shared, nil)
            try Self.create(named, at: shared)
        } else {
            let broker = try EmbeddedBroker(brokers: brokers, topics: named)
            (bootstrapServers, embedded) = (broker.bootstrapServers, broker)
        }
    }

    /// Returns the full name of a topic, a group or a transactional id on this broker.
    package func name(_ base: String) -> String { base + suffix }

    /// A transaction as seen by a proxy in front of a shared broker.
    package struct Transaction: Decodable, Sendable {
        package struct Record: Decodable, Sendable {
            package let topic: String
            package let headers: [String: String]
        }
        package struct Offset: Decodable, Sendable {
            package let partition: Int32
            package let next: Int64
        }
        package enum End: String, Decodable, Sendable {
            case committed, aborted
            /// The broker rejected the end: another producer has the id.
            case refused
        }
        package let epoch: Int
        package let ended: End
        package let records: [Record]
        package let offsets: [Offset]
        fileprivate let id: String
    }

    /// Returns the ended transactions of one transactional id, oldest first. On a shared broker, they are read from the file that
    /// `LOCSEARCH_TEST_TRANSACTIONS` names.
    package func transactions(of id: String) throws -> [Transaction] {
        guard let path = ProcessInfo.processInfo.environment["LOCSEARCH_TEST_TRANSACTIONS"] else {
            throw Refused(reason: "LOCSEARCH_TEST_TRANSACTIONS names no file")
        }
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        // The last line may be incomplete.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return try lines.map { try JSONDecoder().decode(Transaction.self, from: Data($0.utf8)) }.filter { $0.id == id }
    }

    /// The error of a missing file or a failed request.
    private struct Refused: Error, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }

    /// Creates topics with Kafka's own request, which the embedded broker does not support.
    private static func create(_ topics: [String: Int], at bootstrapServers: String) throws {
        var reason = [CChar](repeating: 0, count: 512)
        let settings = unsafe rd_kafka_conf_new()
        unsafe rd_kafka_conf_set(settings, "bootstrap.servers", bootstrapServers, &reason, reason.count)
        guard let client = unsafe rd_kafka_new(RD_KAFKA_PRODUCER, settings, &reason, reason.count) else {
            throw Refused(reason: "no client for \(bootstrapServers)")
        }
        defer { unsafe rd_kafka_destroy(client) }
        let answers = unsafe rd_kafka_queue_new(client)
        defer { unsafe rd_kafka_queue_destroy(answers) }
        for (topic, partitions) in topics {
            var new = unsafe rd_kafka_NewTopic_new(topic, Int32(partitions), 1, &reason, reason.count)
            defer { unsafe rd_kafka_NewTopic_destroy(new) }
            unsafe rd_kafka_CreateTopics(client, &new, 1, nil, answers)
            guard let event = unsafe rd_kafka_queue_poll(answers, 20_000) else {
                throw Refused(reason: "\(bootstrapServers) does not answer")
            }
            defer { unsafe rd_kafka_event_destroy(event) }
            var count = 0
            let result = unsafe rd_kafka_event_CreateTopics_result(event)
            let created = unsafe rd_kafka_CreateTopics_result_topics(result, &count)
            guard unsafe rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR, count == 1,
                let one = unsafe created?[0],
                unsafe rd_kafka_topic_result_error(one) == RD_KAFKA_RESP_ERR_NO_ERROR
            else { throw Refused(reason: "topic \(topic) was not created at \(bootstrapServers)") }
        }
    }
}

extension TopicReader {
    /// Returns all current records of some topics. Works without a group, and once for each reader.
    /// - Parameter known: the least number of records, for topics in which markers of transactions take offsets too.
    package func contents(of topics: [String], atLeast known: Int? = nil) async throws -> [ConsumerRecord] {
        var count = 0
        for topic in topics {
            count += try await bounds(of: topic, within: .seconds(20)).values.reduce(0) { $0 + $1.count }
        }
        try await open(topics, at: .beginning, within: .seconds(20))
        var all: [ConsumerRecord] = []
        try await eventually("\(count) records of \(topics) are read", within: .seconds(40)) {
            all += try await records(max: 500, within: .milliseconds(200))
            return all.count >= known ?? count
        }
        // There may be more than the known number.
        if known != nil { all += try await records(max: 500, within: .milliseconds(200)) }
        return all
    }
}

/// An offset without metadata, as most tests commit it.
extension CommittedOffset: ExpressibleByIntegerLiteral {
    public init(integerLiteral offset: Int64) { self.init(offset) }
}
