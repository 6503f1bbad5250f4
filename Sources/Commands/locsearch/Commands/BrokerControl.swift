import Foundation
import Kafka

/// Executes the lines that `locsearch broker --control` reads, and builds the answers. An invalid line is answered with
/// an error; it does not end the program.
enum BrokerControl {
    private struct Command: Decodable {
        struct Topic: Decodable {
            let name: String
            let partitions: Int
        }
        struct Fail: Decodable {
            let api: Name
            let errors: [Name]
            let broker: Int32?
            let delayMs: Int?
        }
        struct Clear: Decodable { let api: Name }
        struct RoundTrip: Decodable {
            let broker: Int32
            let ms: Int
        }
        struct TopicError: Decodable {
            let topic: String
            let error: Name
        }
        struct Leader: Decodable {
            let topic: String
            let partition: Int32
            let broker: Int32
        }
        let topic: Topic?
        let fail: Fail?
        let clear: Clear?
        let down: Int32?
        let up: Int32?
        let rtt: RoundTrip?
        let topicError: TopicError?
        let leader: Leader?
        let groupDelay: Int?
    }

    /// A request or an error, given by its Kafka name or by its number.
    private enum Name: Decodable {
        case text(String)
        case number(Int32)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int32.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        func api() throws(Refusal) -> EmbeddedBroker.API {
            let found: EmbeddedBroker.API? =
                switch self {
                case .text(let name): EmbeddedBroker.API(name: name)
                case .number(let number): Int16(exactly: number).flatMap { EmbeddedBroker.API(rawValue: $0) }
                }
            guard let found else { throw Refusal("api: not a request whose failure can be simulated") }
            return found
        }

        func code() throws(Refusal) -> Int32 {
            switch self {
            case .number(let number): return number
            case .text(let name):
                guard let code = EmbeddedBroker.errorCode(named: name) else {
                    throw Refusal("\(name) is not an error of librdkafka")
                }
                return code
            }
        }
    }

    private struct Refusal: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// - Parameter line: one line of JSON, without a line feed.
    static func answer(_ line: String, by broker: EmbeddedBroker) -> String {
        guard let command = try? JSONDecoder().decode(Command.self, from: Data(line.utf8)) else {
            return refusal("not a valid command: see locsearch broker --help")
        }
        do {
            try obey(command, broker)
            return #"{"ok":true}"#
        } catch let error as Refusal {
            return refusal(error.reason)
        } catch {
            return refusal("\(error)")
        }
    }

    private static func obey(_ command: Command, _ broker: EmbeddedBroker) throws {
        if let topic = command.topic {
            guard (1...1000).contains(topic.partitions) else { throw Refusal("partitions: expected 1 to 1000") }
            try broker.createTopic(topic.name, partitions: topic.partitions)
        } else if let fail = command.fail {
            try obey(fail, broker)
        } else if let clear = command.clear {
            broker.clearFailures(of: try clear.api.api())
        } else if let number = command.down {
            broker.set(broker: number, isUp: false)
        } else if let number = command.up {
            broker.set(broker: number, isUp: true)
        } else if let rtt = command.rtt {
            broker.setRoundTripTime(try milliseconds(rtt.ms), broker: rtt.broker)
        } else if let topicError = command.topicError {
            broker.setError(try topicError.error.code(), ofTopic: topicError.topic)
        } else if let leader = command.leader {
            try broker.setLeader(of: TopicPartition(leader.topic, leader.partition), to: leader.broker)
        } else if let delay = command.groupDelay {
            guard broker.setGroupDelay(try milliseconds(delay)) else {
                throw Refusal("librdkafka \(LibraryVersion.running) cannot set it: use 2.6.1 or newer")
            }
        } else {
            throw Refusal("nothing to do: see locsearch broker --help")
        }
    }

    private static func obey(_ fail: Command.Fail, _ broker: EmbeddedBroker) throws {
        let (api, codes) = (try fail.api.api(), try fail.errors.map { try $0.code() })
        if let number = fail.broker {
            try broker.fail(api, with: codes, broker: number, delay: try milliseconds(fail.delayMs ?? 0))
        } else {
            for code in codes { broker.fail(api, with: code) }
        }
    }

    private static func milliseconds(_ number: Int) throws(Refusal) -> Duration {
        guard (0...60_000).contains(number) else { throw Refusal("milliseconds: expected 0 to 60000") }
        return .milliseconds(number)
    }

    private static func refusal(_ why: String) -> String {
        let object = try? JSONEncoder().encode(["error": why])
        return object.map { String(decoding: $0, as: UTF8.self) } ?? #"{"error":"not understood"}"#
    }
}
