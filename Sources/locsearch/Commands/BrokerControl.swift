import Foundation
import Kafka

/// The lines that `locsearch broker --control` takes, and what it answers. A wrong line is an answer, never an end.
enum BrokerControl {
    private struct Command: Decodable {
        struct Fail: Decodable {
            let api: String
            let errors: [String]
        }
        struct RoundTrip: Decodable {
            let broker: Int32
            let ms: Int
        }
        struct Clear: Decodable { let api: String }
        struct Topic: Decodable {
            let name: String
            let partitions: Int
        }
        let topic: Topic?
        let fail: Fail?
        let clear: Clear?
        let down: Int32?
        let up: Int32?
        let rtt: RoundTrip?
    }

    /// One line of JSON, without a line feed.
    static func answer(_ line: String, by broker: EmbeddedBroker) -> String {
        guard let command = try? JSONDecoder().decode(Command.self, from: Data(line.utf8)) else {
            return refusal("expected an object with topic, fail, clear, down, up or rtt")
        }
        if let fail = command.fail {
            guard let api = EmbeddedBroker.API(name: fail.api) else {
                return refusal("\(fail.api) is no request that can fail here")
            }
            var codes: [Int32] = []
            for name in fail.errors {
                guard let code = code(name) else { return refusal("\(name) is no error's name or number") }
                codes.append(code)
            }
            for code in codes { broker.fail(api, with: code) }
        } else if let clear = command.clear {
            guard let api = EmbeddedBroker.API(name: clear.api) else {
                return refusal("\(clear.api) is no request that can fail here")
            }
            broker.clearFailures(of: api)
        } else if let topic = command.topic {
            guard (1...1000).contains(topic.partitions) else { return refusal("partitions: expected 1 to 1000") }
            do {
                try broker.createTopic(topic.name, partitions: topic.partitions)
            } catch {
                return refusal(error.description)
            }
        } else if let number = command.down {
            broker.set(broker: number, isUp: false)
        } else if let number = command.up {
            broker.set(broker: number, isUp: true)
        } else if let rtt = command.rtt {
            guard (0...60_000).contains(rtt.ms) else { return refusal("ms: expected 0 to 60000") }
            broker.setRoundTripTime(.milliseconds(rtt.ms), broker: rtt.broker)
        } else {
            return refusal("expected an object with topic, fail, clear, down, up or rtt")
        }
        return #"{"ok":true}"#
    }

    /// Kafka's error codes by the names that librdkafka's `rd_kafka_err2name` gives them; any other by its number.
    private static let codes: [String: Int32] = [
        "NO_ERROR": 0, "_TRANSPORT": -195, "OFFSET_OUT_OF_RANGE": 1, "UNKNOWN_TOPIC_OR_PART": 3,
        "LEADER_NOT_AVAILABLE": 5, "NOT_LEADER_FOR_PARTITION": 6, "REQUEST_TIMED_OUT": 7, "BROKER_NOT_AVAILABLE": 8,
        "MSG_SIZE_TOO_LARGE": 10, "NETWORK_EXCEPTION": 13, "COORDINATOR_LOAD_IN_PROGRESS": 14,
        "COORDINATOR_NOT_AVAILABLE": 15, "NOT_COORDINATOR": 16, "NOT_ENOUGH_REPLICAS": 19,
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND": 20, "ILLEGAL_GENERATION": 22, "UNKNOWN_MEMBER_ID": 25,
        "REBALANCE_IN_PROGRESS": 27, "TOPIC_AUTHORIZATION_FAILED": 29, "GROUP_AUTHORIZATION_FAILED": 30,
        "OUT_OF_ORDER_SEQUENCE_NUMBER": 45, "DUPLICATE_SEQUENCE_NUMBER": 46, "INVALID_PRODUCER_EPOCH": 47,
        "CONCURRENT_TRANSACTIONS": 51, "KAFKA_STORAGE_ERROR": 56, "UNKNOWN_PRODUCER_ID": 59, "FENCED_INSTANCE_ID": 82,
        "THROTTLING_QUOTA_EXCEEDED": 89, "PRODUCER_FENCED": 90,
    ]

    private static func code(_ name: String) -> Int32? { codes[name] ?? Int32(name) }

    private static func refusal(_ why: String) -> String {
        let object = try? JSONEncoder().encode(["error": why])
        return object.map { String(decoding: $0, as: UTF8.self) } ?? #"{"error":"not understood"}"#
    }
}
