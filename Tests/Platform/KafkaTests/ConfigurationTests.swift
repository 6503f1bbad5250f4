import EventLoop
import InMemoryLogging
import Logging
import Testing

@testable import Kafka

/// Settings reach librdkafka, properties that the guarantees depend on cannot be changed, and secrets are never shown.
@Suite(.closesClients)
struct ConfigurationTests {
    private static let secret = "hunter2-secret"

    private func consumer(_ properties: [String: String]) throws(KafkaError) -> [String: String] {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.properties = properties
        return try configuration.librdkafka(.running)
    }

    @Test(arguments: [
        "bootstrap.servers", "metadata.broker.list", "group.id", "group.instance.id", "enable.auto.commit",
        "auto.commit.enable", "enable.auto.offset.store", "enable.idempotence", "acks", "request.required.acks",
        "transactional.id", "delivery.report.only.error", "enabled_events", "log.queue", "enable.partition.eof",
        "isolation.level", "test.mock.num.brokers", "rebalance_cb", "opaque", "log_level",
    ])
    func `The configuration refuses properties that guarantees depend on`(name: String) {
        let error = #expect(throws: KafkaError.self) { try consumer([name: "1"]) }
        #expect(error?.kind == .configuration)
        #expect(error?.description.contains(name) == true)
    }

    @Test func `A user's properties replace defaults and reach the right client`() throws {
        let properties = try consumer(["auto.offset.reset": "latest", "client.id": "me", "linger.ms": "7"])
        #expect(properties["auto.offset.reset"] == "latest")
        #expect(properties["client.id"] == "me")
        #expect(properties["enable.auto.commit"] == "false")
        #expect(properties["enable.auto.offset.store"] == "false")
        // A producer property.
        #expect(properties["linger.ms"] == nil)
        var producer = ProducerConfiguration(bootstrapServers: "127.0.0.1:1")
        producer.properties = ["session.timeout.ms": "4000", "compression.type": "lz4"]
        let all = try producer.librdkafka(.running)
        #expect(all["session.timeout.ms"] == nil)
        #expect(all["compression.type"] == "lz4")
        #expect(all["enable.idempotence"] == "true")
        #expect(all["acks"] == "all")
    }

    @Test func `The heartbeat is every second unless a property sets it`() throws {
        #expect(try consumer([:])["heartbeat.interval.ms"] == "1000")
        #expect(try consumer(["heartbeat.interval.ms": "200"])["heartbeat.interval.ms"] == "200")
    }

    /// Returns a configuration with the new protocol, as the setting makes it.
    private static func newProtocol(_ properties: [String: String] = [:]) -> ConsumerConfiguration {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.groupProtocol = .consumer
        configuration.properties = properties
        return configuration
    }

    @Test func `The new group protocol sends no property that the broker sets`() throws {
        var byProperty = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        byProperty.properties = ["group.protocol": "consumer"]

        for configuration in [Self.newProtocol(), byProperty] {
            let properties = try configuration.librdkafka(LibraryVersion(2, 16))
            #expect(properties["group.protocol"] == "consumer")
            #expect(properties["group.id"] == "location-search-worker")
            for name in ["heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms"] {
                #expect(properties[name] == nil, "\(name)")
            }
        }
        #expect(try consumer([:])["group.protocol"] == nil, "the classic protocol is librdkafka's own default")
    }

    @Test(arguments: [LibraryVersion(2, 0, 2), LibraryVersion(2, 11, 1)])
    func `The new group protocol is refused on an old library`(version: LibraryVersion) {
        let error = #expect(throws: KafkaError.self) { try Self.newProtocol().librdkafka(version) }
        #expect(error?.kind == .configuration)
        #expect(
            error?.description
                == "kafka.groupProtocol is consumer, which needs librdkafka 2.12.0 or newer, and this is \(version): use a newer"
                + " library, or remove the setting")
    }

    @Test func `A cooperative member that commits needs librdkafka 2.10`() {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        #expect(!configuration.losesPartitionsByCommits(with: LibraryVersion(2, 0, 2)), "the default is range")
        configuration.properties = ["partition.assignment.strategy": "cooperative-sticky"]
        #expect(configuration.losesPartitionsByCommits(with: LibraryVersion(2, 9, 9)))
        #expect(!configuration.losesPartitionsByCommits(with: LibraryVersion(2, 10)))
    }

    @Test func `The new group protocol is refused beside properties that the broker sets`() {
        let cases = ["session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"].map { name in
            (Self.newProtocol([name: "6000"]), "\(name) in kafka.properties")
        }

        for (configuration, name) in cases {
            let error = #expect(throws: KafkaError.self) { try configuration.librdkafka(LibraryVersion(2, 16)) }
            #expect(error?.kind == .configuration)
            #expect(error?.description.hasPrefix("\(name) cannot be set when kafka.groupProtocol is consumer") == true)
        }
    }

    @Test(arguments: [("no.such.property", "1"), ("session.timeout.ms", "soon"), ("check.crcs", "perhaps")])
    func `A consumer names a property that librdkafka refuses`(name: String, value: String) throws {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.properties = [name: value]
        let error = try configuration.refusal()
        #expect(error?.kind == .configuration)
        #expect(error?.description.contains(name) == true)
    }

    @Test func `The configuration passes on every security setting`() throws {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.security.securityProtocol = "sasl_ssl"
        configuration.security.caFile = "/ca.pem"
        configuration.security.certificateFile = "/cert.pem"
        configuration.security.keyFile = "/key.pem"
        configuration.security.keyPassword = "kp"
        configuration.security.saslMechanism = "SCRAM-SHA-256"
        configuration.security.saslUsername = "user"
        configuration.security.saslPassword = "sp"
        configuration.security.verifiesHostname = false
        let properties = try configuration.librdkafka(.running)
        let expected = [
            "security.protocol": "sasl_ssl", "ssl.ca.location": "/ca.pem", "ssl.certificate.location": "/cert.pem",
            "ssl.key.location": "/key.pem", "ssl.key.password": "kp", "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": "user", "sasl.password": "sp", "ssl.endpoint.identification.algorithm": "none",
        ]
        for (name, value) in expected { #expect(properties[name] == value, "\(name)") }
        // Verified unless disabled, also with libraries whose default is no verification (before 2.0).
        #expect(try consumer([:])["ssl.endpoint.identification.algorithm"] == "https")
    }

    @Test func `The description of a configuration shows no secret`() {
        var consumer = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        consumer.security.saslPassword = Self.secret
        consumer.security.keyPassword = Self.secret
        consumer.properties = ["sasl.password": Self.secret, "ssl.key.password": Self.secret]
        var producer = ProducerConfiguration(bootstrapServers: "127.0.0.1:1")
        producer.security = consumer.security
        producer.properties = consumer.properties
        var dumped = ""
        dump(consumer, to: &dumped)
        dump(producer, to: &dumped)
        dumped += "\(consumer) \(producer) \(consumer.security) "
        dumped += String(reflecting: consumer) + String(reflecting: producer) + String(reflecting: consumer.security)
        #expect(!dumped.contains(Self.secret))
        #expect(dumped.contains("127.0.0.1:1"))
    }

    @Test func `Errors and log lines show no secret`() async throws {
        let (lines, loop) = (InMemoryLogHandler(), try EventLoop.ofTest())
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.security.securityProtocol = "ssl"
        configuration.security.keyPassword = Self.secret
        configuration.security.saslPassword = Self.secret
        configuration.properties = ["debug": "all", "ssl.key.pem": Self.secret]
        // An invalid key: rejected when the client is made.
        let error = try configuration.refusal()
        #expect(error?.kind == .configuration)
        #expect(error?.description.contains(Self.secret) == false)
        configuration.properties = ["debug": "all"]
        var log = lines.logger
        log.logLevel = .trace
        let consumer = try KafkaConsumer(loop: loop, configuration: configuration, log: log)
        await consumer.close()
        #expect(!lines.entries.isEmpty)
        #expect(!lines.entries.contains { "\($0.message) \($0.metadata)".contains(Self.secret) })
    }
}
