import Foundation
import Kafka

/// Executes the lines that `locsearch broker --control` reads, and builds the answers. An invalid line is answered with
/// an error; it does not end the program.
enum BrokerControl {
    private enum Command: Decodable {
        case topic(name: String, partitions: Int)
        case fail(api: Name, errors: [Name], broker: Int32?, delayMs: Int?)
        case clear(api: Name)
        case rtt(broker: Int32, ms: Int)
        case topicError(topic: String, error: Name)
        case leader(topic: String, partition: Int32, broker: Int32)
    }

    private struct Numbers: Decodable {
        let down: Int32?
        let up: Int32?
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
        let (decoder, data) = (JSONDecoder(), Data(line.utf8))
        do {
            if let command = try? decoder.decode(Command.self, from: data) {
                try obey(command, broker)
            } else if let numbers = try? decoder.decode(Numbers.self, from: data) {
                try obey(numbers, broker)
            } else {
                throw Refusal("not a valid command: see locsearch broker --help")
            }
            return #"{"ok":true}"#
        } catch let error as Refusal {
            return refusal(error.reason)
        } catch {
            return refusal("\(error)")
        }
    }

    private static func obey(_ command: Command, _ broker: EmbeddedBroker) throws {
        switch command {
        case .topic(let name, let partitions):
            guard (1...1000).contains(partitions) else { throw Refusal("partitions: expected 1 to 1000") }
            try broker.createTopic(name, partitions: partitions)
        case .fail(let api, let errors, let number, let delay):
            let (api, codes) = (try api.api(), try errors.map { try $0.code() })
            if let number {
                try broker.fail(api, with: codes, broker: number, delay: try milliseconds(delay ?? 0))
            } else {
                for code in codes { broker.fail(api, with: code) }
            }
        case .clear(let api): broker.clearFailures(of: try api.api())
        case .rtt(let number, let time): broker.setRoundTripTime(try milliseconds(time), broker: number)
        case .topicError(let topic, let error): broker.setError(try error.code(), ofTopic: topic)
        case .leader(let topic, let partition, let number):
            try broker.setLeader(of: TopicPartition(topic, partition), to: number)
        }
    }

    private static func obey(_ numbers: Numbers, _ broker: EmbeddedBroker) throws {
        if let number = numbers.down {
            broker.set(broker: number, isUp: false)
        } else if let number = numbers.up {
            broker.set(broker: number, isUp: true)
        } else if let delay = numbers.groupDelay {
            guard broker.setGroupDelay(try milliseconds(delay)) else {
                throw Refusal("librdkafka \(LibraryVersion.running) cannot set it: use 2.6.1 or newer")
            }
        } else {
            throw Refusal("nothing to do: see locsearch broker --help")
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
