import ArgumentParser
import Foundation
import Kafka

struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Runs the embedded broker on 127.0.0.1, for trying out and for tests.",
        discussion: """
            Prints the bootstrap servers on its first line and runs until SIGTERM. Nothing is kept on disk; a partition
            keeps the newest 5 MB. Lines of JSON on standard input make faults:

              {"fail":{"api":"Produce","error":-195,"count":3}}   -195 cuts the connection
              {"down":1}  {"up":1}  {"rtt":{"broker":1,"ms":300}}
            """)

    @Option(help: "How many brokers.") var brokers = 1
    @Option(help: "Partitions of each of our topics.") var partitions = 12
    @Option(name: .customLong("topic"), help: "Another topic, NAME:PARTITIONS. May repeat.") var topics: [String] = []

    func validate() throws {
        guard (1...9).contains(brokers) else { throw ValidationError("--brokers takes 1 to 9") }
        guard (1...1000).contains(partitions) else { throw ValidationError("--partitions takes 1 to 1000") }
    }

    func run() async throws {
        ignoreBrokenPipes()
        let broker = try EmbeddedBroker(brokers: brokers, topics: try allTopics())
        print(broker.bootstrapServers)
        fflushStandardOutput()
        let faults = Task.detached { while let line = readLine() { BrokerFault.apply(line, to: broker) } }
        await ProcessSetup.onTermination { exitNow(0) }
        faults.cancel()
    }

    private func allTopics() throws -> [String: Int] {
        var all: [String: Int] = [:]
        for setting in Setting.all where setting.name.hasPrefix("topics.") {
            if let name = setting.defaultValue { all[name] = partitions }
        }
        for topic in topics {
            let parts = topic.split(separator: ":")
            guard parts.count == 2, let count = Int(parts[1]), (1...1000).contains(count) else {
                throw ValidationError("--topic takes NAME:PARTITIONS")
            }
            all[String(parts[0])] = count
        }
        return all
    }
}

/// One line of the broker's standard input.
private struct BrokerFault: Decodable {
    struct Fail: Decodable {
        let api: String
        let error: Int32
        let count: Int?
    }
    struct RoundTrip: Decodable {
        let broker: Int32
        let ms: Int
    }
    let fail: Fail?
    let down: Int32?
    let up: Int32?
    let rtt: RoundTrip?

    static func apply(_ line: String, to broker: EmbeddedBroker) {
        guard let fault = try? JSONDecoder().decode(BrokerFault.self, from: Data(line.utf8)) else {
            return report("not understood: expected fail, down, up or rtt")
        }
        if let fail = fault.fail {
            guard let api = EmbeddedBroker.API(name: fail.api) else {
                return report("\(fail.api) is no request of the embedded broker")
            }
            broker.fail(api, with: fail.error, count: fail.count ?? 1)
        }
        if let number = fault.down { broker.set(broker: number, isUp: false) }
        if let number = fault.up { broker.set(broker: number, isUp: true) }
        if let rtt = fault.rtt { broker.setRoundTripTime(.milliseconds(rtt.ms), broker: rtt.broker) }
    }

    private static func report(_ problem: String) {
        FileHandle.standardError.write(Data("locsearch broker: \(problem)\n".utf8))
    }
}
