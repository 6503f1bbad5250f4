import ArgumentParser
import Foundation
import Kafka

struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Runs the embedded broker on 127.0.0.1, for trying out and for tests.",
        discussion: """
            Prints the bootstrap servers on its first line and runs until SIGTERM. Nothing is kept on disk; a partition
            keeps the newest 5 MB. When a worker joins or leaves, its group takes the session timeout less a second to form
            again, and may need several tries: 44 s each, or 5 s where all its workers have
            KAFKA_PROPERTIES=session.timeout.ms=6000.

            While a group forms, this broker refuses commits, which Apache Kafka does not. A worker that is told to end then
            cannot commit what it has just finished, and the next one does it again: here a planned stop may repeat up to as
            many outcomes as were in flight. See docs/guarantees.md.

              locsearch broker
              locsearch broker --brokers 3 --partitions 24 --topic extra:4

            With --control, each line of JSON on standard input makes a fault and is answered with one line on standard
            output, {"ok":true} or {"error":"why"}; the end of standard input ends the broker:

              {"fail":{"api":"Produce","errors":["REQUEST_TIMED_OUT","_TRANSPORT"]}}  {"clear":{"api":"Produce"}}
              {"topic":{"name":"t","partitions":12}}
              {"down":1}  {"up":1}  {"rtt":{"broker":1,"ms":300}}  {"groupDelay":500}
              {"topicError":{"topic":"t","error":"TOPIC_AUTHORIZATION_FAILED"}}
              {"leader":{"topic":"t","partition":0,"broker":2}}
            """)

    @Option(help: "How many brokers.") var brokers = 1
    @Option(help: "Partitions of each of our topics.") var partitions = 12
    @Option(name: .customLong("topic"), help: "Another topic, NAME:PARTITIONS. May repeat.") var topics: [String] = []

    @Flag(help: "Takes commands from standard input.") var control = false

    func validate() throws {
        guard (1...9).contains(brokers) else { throw ValidationError("--brokers takes 1 to 9") }
        guard (1...1000).contains(partitions) else { throw ValidationError("--partitions takes 1 to 1000") }
        _ = try allTopics()
    }

    func run() async throws {
        ignoreBrokenPipes()
        let broker = try EmbeddedBroker(brokers: brokers, topics: try allTopics())
        Terminal.line(broker.bootstrapServers)

        if control {
            // Reading a line blocks its thread, so this uses a dedicated thread.
            let commands = Thread {
                while let line = readLine() { Terminal.line(BrokerControl.answer(line, by: broker)) }
                exitNow(0)
            }
            commands.start()
        }

        await ProcessSetup.onFirstTermination()
    }

    /// The number of partitions of each topic: the topics in the settings, then those of `--topic`.
    private func allTopics() throws -> [String: Int] {
        var all: [String: Int] = [:]
        for setting in Setting.all where setting.name.hasPrefix("topics.") {
            if let name = setting.defaultValue { all[name] = partitions }
        }

        for topic in topics {
            let parts = topic.split(separator: ":")
            guard parts.count == 2, let count = Int(parts[1]), (1...1000).contains(count) else {
                throw ValidationError("--topic \(topic): takes NAME:PARTITIONS, with 1 to 1000 partitions")
            }
            all[String(parts[0])] = count
        }
        return all
    }
}
