import ArgumentParser
import Foundation
import Kafka
import NIOCore
import NIOPosix

struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Runs the embedded broker on 127.0.0.1, for trials and tests.",
        discussion: """
            Prints the bootstrap servers on its first line and runs until SIGTERM. Nothing is stored on disk; each
            partition keeps its newest 5 MB. A rebalance takes the session timeout minus one second, and may need
            several tries: 44 s each, or 5 s if all workers have KAFKA_PROPERTIES=session.timeout.ms=6000. Unlike Apache
            Kafka, this broker refuses commits during a rebalance, so a stopped worker's requests in flight may be
            repeated: see docs/guarantees.md.

              locsearch broker
              locsearch broker --port 9092
              locsearch broker --brokers 3 --partitions 24 --topic extra:4

            With --control, each line of JSON on standard input causes a fault. The broker replies with one line on
            standard output, {"ok":true} or {"error":"why"}, and exits at the end of standard input:

              {"fail":{"api":"Produce","errors":["REQUEST_TIMED_OUT","_TRANSPORT"]}}  {"clear":{"api":"Produce"}}
              {"topic":{"name":"t","partitions":12}}
              {"down":1}  {"up":1}  {"rtt":{"broker":1,"ms":300}}  {"groupDelay":500}
              {"topicError":{"topic":"t","error":"TOPIC_AUTHORIZATION_FAILED"}}
              {"leader":{"topic":"t","partition":0,"broker":2}}
            """)

    @Option(help: "Number of brokers.") var brokers = 1
    @Option(help: "Port for first connections. Default: any free one.") var port: UInt16?
    @Option(help: "Partitions of each topic of locsearch.") var partitions = 12
    @Option(name: .customLong("topic"), help: "Another topic, NAME:PARTITIONS. May repeat.") var topics: [String] = []

    @Flag(help: "Reads commands from standard input.") var control = false

    func validate() throws {
        guard (1...9).contains(brokers) else { throw ValidationError("--brokers takes 1 to 9") }
        guard port != 0 else { throw ValidationError("--port takes 1 to 65535; without it, any free port is used") }
        guard (1...1000).contains(partitions) else { throw ValidationError("--partitions takes 1 to 1000") }
        _ = try allTopics()
    }

    func run() async throws {
        ignoreBrokenPipes()
        let broker = try EmbeddedBroker(brokers: brokers, topics: try allTopics())
        let address = String(broker.bootstrapServers.prefix { $0 != "," })
        if let port { try await FixedPort.forward(port, to: address) }
        // A caller may send SIGTERM as soon as it reads this line.
        let termination = await ProcessSetup.trapTermination()
        Terminal.line(port.map { "127.0.0.1:\($0)" } ?? broker.bootstrapServers)

        if control {
            // Reading a line blocks its thread, so this uses a dedicated thread.
            let commands = Thread {
                while let line = readLine() { Terminal.line(BrokerControl.answer(line, by: broker)) }
                exitNow(0)
            }
            commands.start()
        }

        await termination()
    }

    /// The number of partitions of each topic: the topics in the settings, then those of `--topic`.
    private func allTopics() throws -> [String: Int] {
        var all: [String: Int] = [:]
        for name in Setting.defaultTopics { all[name] = partitions }
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

/// A port of our choice for first connections: librdkafka's mock cluster listens on ports of the system's choice. Its
/// answers name these, and clients then use them directly.
private enum FixedPort {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Forwards connections at `port` of 127.0.0.1 until the process ends. Returns once the port is open.
    static func forward(_ port: UInt16, to broker: String) async throws {
        if let problem = try NetworkAddress.resolve("127.0.0.1", port: port).first?.listenProblem {
            throw ValidationError("--port \(port): \(problem)")
        }

        let target = try SocketAddress(ipAddress: "127.0.0.1", port: Int(broker.split(separator: ":").last ?? "") ?? 0)
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: Int(port), childChannelInitializer: connection)
        Task {
            try await server.executeThenClose { clients in
                try await withThrowingDiscardingTaskGroup { tasks in
                    for try await client in clients { tasks.addTask { try? await relay(client, to: target) } }
                }
            }
        }
    }

    @Sendable private static func connection(_ channel: any Channel) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
    }

    /// Returns when one of the two sides has closed its connection.
    private static func relay(_ client: Connection, to target: SocketAddress) async throws {
        let broker = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: target, channelInitializer: connection)
        try await client.executeThenClose { requests, toClient in
            try await broker.executeThenClose { answers, toBroker in
                try await withThrowingTaskGroup(of: Void.self) { directions in
                    directions.addTask { for try await bytes in requests { try await toBroker.write(bytes) } }
                    directions.addTask { for try await bytes in answers { try await toClient.write(bytes) } }
                    try await directions.next()
                    directions.cancelAll()
                }
            }
        }
    }
}

extension Setting {
    /// The topics that are used unless settings name others.
    static var defaultTopics: [String] { all.filter { $0.name.hasPrefix("topics.") }.compactMap(\.defaultValue) }
}
