import Basics
import EventLoop
import InMemoryLogging
import KafkaTestSupport
import Logging
import TestSupport
import Testing

@testable import Kafka

/// Log lines about unreachable brokers, and the limit on repetitions.
struct ReportTests {
    // MARK: - Unreachable brokers

    static let lines: [(line: String, address: String, reason: String)] = [
        (
            "127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in state CONNECT)",
            "127.0.0.1:1", "Connection refused"
        ),
        (
            "[thrd:kafka:9092/bootstrap]: kafka:9092/bootstrap: Failed to resolve 'kafka:9092': Name or service not known "
                + "(after 12ms in state CONNECT)", "kafka:9092",
            "Failed to resolve 'kafka:9092': Name or service not known"
        ),
        (
            "sasl_ssl://[::1]:9093/3: SASL authentication error: Authentication failed (after 8ms in state AUTH_REQ)",
            "[::1]:9093", "SASL authentication error: Authentication failed"
        ),
        (
            "ssl://kafka:9093/bootstrap: SSL handshake failed: certificate verify failed (after 4ms in state "
                + "SSL_HANDSHAKE, 3 identical error(s) suppressed)", "kafka:9093",
            "SSL handshake failed: certificate verify failed"
        ),
    ]

    @Test(arguments: lines)
    func `The broker and the reason are read from a line`(line: String, address: String, reason: String) throws {
        let parsed = try #require(BrokerFailures.parse(line))
        #expect(parsed.address == address)
        #expect(parsed.reason == reason)
    }

    @Test(arguments: ["", "1/1 brokers are down", "GroupCoordinator: Disconnected", "a:b/1: x", "kafka:9092: no id"])
    func `A line about no broker is ignored`(line: String) { #expect(BrokerFailures.parse(line) == nil) }

    @Test func `Each broker is listed once with its last reason`() {
        let failures = BrokerFailures()
        failures.note(line: "a:1/bootstrap: Disconnected (after 3ms in state UP)")
        failures.note(
            line: "b:2/bootstrap: Connect to ipv4#10.0.0.1:2 failed: No route to host (after 3ms in state CONNECT)")
        failures.note(line: "a:1/1: Connect to ipv4#10.0.0.2:1 failed: Connection refused (after 3ms in state CONNECT)")
        #expect(failures.summary == "a:1 (Connection refused), b:2 (No route to host)")

        failures.clear()
        #expect(failures.summary == nil)
    }

    // MARK: - Repetitions

    @Test func `A line appears once per period with the number of omitted ones`() {
        var limiter = RepeatLimiter<String>(period: .seconds(30))
        let start = Instant.now

        #expect(limiter.admit("a", at: start) == 0)
        for second in 1..<30 { #expect(limiter.admit("a", at: start + .seconds(second)) == nil) }
        #expect(limiter.admit("b", at: start + .seconds(2)) == 0)
        #expect(limiter.admit("a", at: start + .seconds(30)) == 29)
        #expect(limiter.admit("a", at: start + .seconds(60)) == 0)
    }

    @Test func `The limiter keeps no more kinds than its maximum`() {
        var limiter = RepeatLimiter<Int>(period: .seconds(30), maxKinds: 3)
        let start = Instant.now
        for kind in 0..<10 { #expect(limiter.admit(kind, at: start) == 0) }

        #expect(limiter.admit(0, at: start) == nil)
        #expect(limiter.admit(9, at: start) == 0, "not remembered, and so not limited")
        #expect(limiter.admit(9, at: start + .seconds(30)) == 0)
        #expect(limiter.admit(9, at: start + .seconds(31)) == nil)
    }

    /// librdkafka logs it ten times a second while a topic is rejected. The worker's own line names the cause.
    @Test func `A line about a missing topic is omitted`() {
        let memory = InMemoryLogHandler()
        let log = ClientLog(memory.logger)

        log.write(
            level: 4, facility: "BROKER",
            line: "[thrd:main]: results [0] is unknown (partition_cnt 0): ignoring leader (1) update")
        log.write(level: 4, facility: "BROKER", line: "[thrd:main]: something else")

        #expect(memory.entries.map { $0.metadata["line"] } == ["[thrd:main]: something else"])
    }

    @Test func `A client's lines that differ only in numbers are logged once`() {
        let notebook = InMemoryLogHandler()
        let log = ClientLog(notebook.logger)
        for second in 0..<20 {
            log.write(
                level: 4, facility: "PARTCNT", line: "Topic dl partition \(second) is not available: unauthorized")
        }
        log.write(level: 4, facility: "TERM", line: "something else")

        #expect(notebook.entries.count == 2)
    }
}

/// The logs of a client while no broker answers it.
@Suite(.serialized, .closesClients, .timeLimit(.minutes(1)))
struct BrokerWatchTests {
    private static func reports(in notebook: InMemoryLogHandler) -> [InMemoryLogHandler.Entry] {
        notebook.entries.filter { "\($0.message)".contains("no broker answers") }
    }

    @Test(arguments: [("127.0.0.1:1", "Connection refused"), ("no-such-host.invalid:9092", "Failed to resolve")])
    func `A consumer logs the broker that it tried and the reason`(address: String, reason: String) async throws {
        let loop = try EventLoop.ofTest()
        let notebook = InMemoryLogHandler()
        let configuration = ConsumerConfiguration(bootstrapServers: address)
        let consumer = try KafkaConsumer(loop: loop, configuration: configuration, log: notebook.logger)

        let notes = Notes()
        try await consumer.subscribe(to: ["t"], listener: notes)

        try await eventually("the broker is named") { !Self.reports(in: notebook).isEmpty }
        let tried = try #require(Self.reports(in: notebook).first?.metadata["tried"])
        #expect("\(tried)".hasPrefix("\(address) ("))
        #expect("\(tried)".contains(reason))
        await consumer.close(within: .seconds(1))
    }

    @Test func `The watch repeats its line every minute while no broker answers`() async throws {
        let notebook = InMemoryLogHandler()
        // Without an address, it has no broker that could fail.
        let client = try ClientHandle(.producer, properties: [:], hiding: [], log: notebook.logger)
        let watch = BrokerWatch(client, isReporting: true, loop: try .ofTest(), log: notebook.logger)

        watch.report(KafkaError(.unreachable, code: -187, "all brokers are down"))
        let start = Instant.now
        watch.reportIfDue(at: start + .seconds(59))
        #expect(Self.reports(in: notebook).count == 1)

        watch.reportIfDue(at: start + .seconds(60))
        watch.reportIfDue(at: start + .seconds(61))
        #expect(Self.reports(in: notebook).count == 2)

        watch.noteAnswer()
        watch.reportIfDue(at: start + .seconds(180))
        #expect(Self.reports(in: notebook).count == 2)
        #expect(notebook.entries.contains { "\($0.message)" == "brokers answer again" })
        await client.destroy()
    }

    // MARK: - Without librdkafka's event

    /// The watch gets no event, as with versions of librdkafka that send none.
    @Test func `A broker that cannot be connected to is reported without the event`() async throws {
        let notebook = InMemoryLogHandler()
        let properties = ["bootstrap.servers": "127.0.0.1:1"]
        let client = try ClientHandle(.producer, properties: properties, hiding: [], log: notebook.logger)
        let watch = BrokerWatch(client, isReporting: true, loop: try .ofTest(), log: notebook.logger)
        try await eventually("the connection fails") { client.connections.allFailedSince != nil }
        let start = try #require(client.connections.allFailedSince)

        watch.reportIfDue(at: start + .milliseconds(1999))
        #expect(!watch.areDown)
        watch.reportIfDue(at: start + .seconds(2))
        watch.reportIfDue(at: start + .seconds(61))
        #expect(watch.areDown)
        #expect(
            Self.reports(in: notebook).map { "\($0.metadata["tried"] ?? "")" } == ["127.0.0.1:1 (Connection refused)"])

        watch.reportIfDue(at: start + .seconds(62))
        #expect(Self.reports(in: notebook).count == 2)
        await client.destroy()
    }

    @Test(
        .enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"),
        arguments: [1, 2] as [Int32])
    func `No failure is reported while one of two brokers answers`(away: Int32) async throws {
        let fixture = try KafkaFixture(brokers: 2)
        fixture.broker.embedded?.set(broker: away, isUp: false)
        let notebook = InMemoryLogHandler()
        let properties = ["bootstrap.servers": fixture.broker.bootstrapServers]
        let client = try ClientHandle(.producer, properties: properties, hiding: [], log: notebook.logger)
        let watch = BrokerWatch(client, isReporting: true, loop: fixture.loop, log: notebook.logger)

        try await eventually("a broker answers") { await client.isAnsweredByABroker() }
        watch.reportIfDue(at: Instant.now + .seconds(60))
        #expect(!watch.areDown)
        #expect(Self.reports(in: notebook).isEmpty)

        let (stays, embedded) = (3 - away, try #require(fixture.broker.embedded))
        embedded.set(broker: stays, isUp: false)
        try await eventually("both fail", within: .seconds(20)) {
            _ = await client.isAnsweredByABroker()
            return client.connections.allFailedSince != nil
        }
        embedded.set(broker: stays, isUp: true)
        try await eventually("one is back", within: .seconds(20)) { await client.isAnsweredByABroker() }
        #expect(client.connections.allFailedSince == nil)
        watch.reportIfDue(at: Instant.now + .seconds(60))
        #expect(!watch.areDown)

        await client.destroy()
    }
}

/// Detection of the failure of all brokers, by the states of their connections.
struct BrokerConnectionsTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    /// Lets brokers pass through states, one a second: `a INIT`, `b UP`. The coordinator is `c`; `-` is no broker.
    private static func connections(_ steps: String) -> BrokerConnections {
        let connections = BrokerConnections()
        for (second, step) in steps.split(separator: ",").enumerated() {
            let words = step.split(separator: " ").map(String.init)
            connections.note(
                name: words[0] == "-" ? "" : words[0], port: "c-".contains(words[0]) ? 0 : 9092, state: words[1],
                at: start + .seconds(second))
        }
        return connections
    }

    @Test(arguments: [
        ("a INIT,a TRY_CONNECT,a CONNECT,a DOWN", 3),
        // No effect: further attempts, an additional coordinator, and entries that are no brokers.
        ("a INIT,a CONNECT,a DOWN,c INIT,- UP,a INIT,a CONNECT", 2),
        ("a INIT,b INIT,a CONNECT,a DOWN,a INIT,b CONNECT,b AUTH_REQ,b DOWN", 7),
        // A connection that was up is tried again.
        ("a CONNECT,a UP,a DOWN,a INIT,a CONNECT,a DOWN", 5),
        ("a CONNECT,a UP,c CONNECT,c UP,a DOWN,a CONNECT,a DOWN,c DOWN", 7),
    ])
    func `All brokers have failed since the last one failed`(steps: String, second: Int) {
        #expect(Self.connections(steps).allFailedSince == Self.start + .seconds(second))
    }

    @Test(arguments: [
        "", "- UP", "c INIT,c CONNECT,c DOWN", "a INIT", "a INIT,a CONNECT",
        // A broker that was not tried yet may answer.
        "a INIT,b INIT,a CONNECT,a DOWN", "a CONNECT,a DOWN,b INIT",
        // A connected broker or coordinator answers.
        "a INIT,b INIT,a CONNECT,a UP,b CONNECT,b DOWN", "a CONNECT,a DOWN,c CONNECT,c UP",
        "a CONNECT,a UP,c CONNECT,c UP,a DOWN,a CONNECT,a DOWN",
        // An answer outdates earlier failures.
        "a CONNECT,a DOWN,a INIT,a CONNECT,a UP", "a CONNECT,a DOWN,b CONNECT,b UP,b DOWN,b CONNECT,b DOWN",
        // An idle connection was closed.
        "a CONNECT,a UP,a DOWN,a INIT",
    ])
    func `Not all brokers have failed`(steps: String) { #expect(Self.connections(steps).allFailedSince == nil) }
}
