import Foundation
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// Set-ups with a fault between a worker and its brokers, on real connections. `SecureConnectionTests` has the faults of TLS.
@Suite(.serialized, .enabled(if: TestBroker.isEmbedded, "the brokers of these tests are told to fail"))
struct DoctorBrokerTests {
    private static let topics = Dictionary(
        uniqueKeysWithValues: (WorkerConfiguration.Topics().all + [WorkerConfiguration.Topics().fleet]).map { ($0, 12) }
    )

    /// Examines brokers, and expects a finding that contains a text.
    private func expect(
        _ text: String, by check: String = "connection", at address: String, with settings: [String: String] = [:],
        state: Finding.State = .failed, cure: String? = nil, code: Int32 = 69
    ) async {
        let wrong = WrongSetUp(
            testDescription: text, settings: settings.merging(["kafka.bootstrapServers": address]) { own, _ in own },
            check: check, state: state, text: text, cure: cure, code: code)
        DoctorFixture.expect(await DoctorFixture.report(wrong.settings, timeout: .seconds(2)), finds: wrong)
    }

    private func login(_ mechanism: String, password: String = SecureFront.user.password) -> [String: String] {
        [
            "kafka.security.protocol": "sasl_plaintext", "kafka.security.sasl.mechanism": mechanism,
            "kafka.security.sasl.username": SecureFront.user.name, "kafka.security.sasl.password": password,
        ]
    }

    // MARK: - Names and connections

    @Test func `The doctor finds addresses that lead nowhere`() async throws {
        let closed = "127.0.0.1:\(try RawServer.unusedPort())"
        let nameless = "nowhere.invalid:9092"
        await expect("Failed to resolve '\(nameless)'", at: nameless, cure: "add the name to the DNS")
        await expect("no connection: \(closed) (Connection refused", at: closed, cure: "start the broker")
        let other = "127.0.0.1:\(try RawServer.unusedPort())"
        let both = await DoctorFixture.report(["kafka.bootstrapServers": "\(closed),\(other)"], timeout: .seconds(2))
        #expect(both.count(.failed) == 1, "\(both.findings.map(DoctorReport.line))")

        let broker = try EmbeddedBroker(topics: Self.topics)
        let servers = broker.bootstrapServers
        await expect("no connection: \(closed)", at: "\(closed),\(servers)", state: .warning)
        await expect("Failed to resolve", at: "\(servers),\(nameless)", state: .warning)
    }

    /// The addresses are passed to the check, because the embedded broker reports correct ones.
    @Test func `The doctor finds a broker that advertises an unreachable address`() async throws {
        let broker = try EmbeddedBroker()
        let closed = "127.0.0.1:\(try RawServer.unusedPort())"
        var examination = DoctorFixture.examination([:], timeout: .seconds(2))
        var cluster = ClusterDescription(brokers: [1, 2, 3], topics: [:])
        cluster.addresses = [1: broker.bootstrapServers, 2: closed, 3: "kafka-3.invalid:9092"]
        examination.connection = Examination.Connection(
            admin: try TopicAdmin(try examination.consumer(), log: examination.log), cluster: cluster)

        let findings = try await BrokersCheck().findings(&examination)
        #expect(findings.map(\.state) == [.failed, .failed], "\(findings)")
        #expect(findings.first?.text.hasPrefix("broker 2 advertises \(closed), but there is no connection: ") == true)
        #expect(findings.last?.text.hasPrefix("broker 3 advertises kafka-3.invalid:9092, ") == true)
        #expect(findings.last?.text.contains("Failed to resolve") == true)
        #expect(findings.allSatisfy { $0.cure?.contains("advertised.listeners") == true && $0.code == 69 })
    }

    // MARK: - Protocols

    @Test func `The doctor names a service that is no broker`() async throws {
        let web = try RawServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            connection.endSending()
            connection.waitForClose()
        }
        let shell = try RawServer { connection in
            connection.send("SSH-2.0-OpenSSH_9.2\r\n")
            connection.waitForClose()
        }
        let closing = try RawServer { connection in
            connection.endSending()
            connection.waitForClose()
        }
        let silent = try RawServer { $0.waitForClose() }
        defer { for server in [web, shell, closing, silent] { server.stop() } }

        for (server, text) in [
            (web, "a web server uses this port, not a broker: check the ports in kafka.bootstrapServers"),
            (shell, "another service uses this port, not a broker: check the ports in kafka.bootstrapServers"),
            (closing, "the broker closed the connection at once"),
        ] { await expect(text, at: "127.0.0.1:\(server.port)") }
        await expect("no answer within 2s", at: "127.0.0.1:\(silent.port)", cure: "restart the broker if it is frozen")
    }

    @Test func `The doctor finds a port without TLS or SASL`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        await expect(
            "this port does not use TLS: check kafka.security.protocol", at: broker.bootstrapServers,
            with: ["kafka.security.protocol": "ssl"], cure: "docs/access.md")
        await expect(
            "this port does not support SASL", at: broker.bootstrapServers, with: login("PLAIN"), cure: "docs/access.md"
        )
    }

    @Test(.enabled(if: SecureFront.canBeStarted, "python3 is missing"))
    func `The doctor finds a wrong login`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        let front = try await SecureFront(broker.bootstrapServers, ["--sasl"])
        defer { front.end() }

        await expect(
            "the broker closed the connection at once; it may require SASL: check kafka.security.protocol",
            at: front.bootstrapServers)
        await expect(
            "the broker rejected the login", at: front.bootstrapServers, with: login("PLAIN", password: "Zq7wrong"),
            cure: "docs/access.md")

        let right = login("PLAIN").merging(["kafka.bootstrapServers": front.bootstrapServers]) { $1 }
        let report = await DoctorFixture.report(right)
        #expect(report.exitCode() == 0, "\(report.findings.map(DoctorReport.line))")
        #expect(report.findings.contains { $0.check == "connection" && $0.text.hasSuffix("logged in as ann by PLAIN") })
    }

    // MARK: - Topics, rights and the group

    @Test func `Topics that were never created have one line`() async throws {
        let broker = try EmbeddedBroker(topics: ["other": 1])
        let report = await DoctorFixture.report(["kafka.bootstrapServers": broker.bootstrapServers])
        #expect(report.count(.failed) == 1, "\(report.findings.map(DoctorReport.line))")
        #expect(report.failure?.description.contains("(topics.results), ") == true)
    }

    @Test func `The doctor finds wrong topics`() async throws {
        let names = WorkerConfiguration.Topics()
        var topics = Self.topics
        topics[names.results] = nil
        topics[names.requests] = 2
        let broker = try EmbeddedBroker(topics: topics)
        let servers = broker.bootstrapServers

        await expect(
            "\(names.results) (topics.results) does not exist", by: "topics", at: servers,
            cure: "locsearch topics create", code: 1)
        await expect(
            "\(names.requests): partitions is 2", by: "topics", at: servers, state: .warning, cure: "--add-partitions")
        await expect(
            "some loops stay idle", by: "topics", at: servers, with: ["worker.loops": "4"], state: .warning,
            cure: "lower worker.loops")
        await expect("there is only one broker", by: "brokers", at: servers, state: .warning, cure: "use three")
        await expect(
            "\(names.fleet) has 12 partitions", by: "fleet", at: servers,
            with: ["providers.hotpepper.requestsPerSecond": "5"], state: .warning, cure: "with one partition")
        await expect(
            "nowhere is missing", by: "fleet", at: servers,
            with: ["providers.hotpepper.callsPerDay": "500", "topics.fleet": "nowhere"],
            cure: "locsearch topics create", code: 1)
    }

    @Test func `The doctor finds missing rights`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        broker.fail(.fetch, with: 29, count: 50)
        await expect(
            "location-search.requests cannot be read", by: "rights", at: broker.bootstrapServers, cure: "Read", code: 1)
        broker.clearFailures(of: .fetch)

        broker.fail(.offsetFetch, with: 30, count: 50)
        await expect(
            "the group location-search-worker cannot be used", by: "group", at: broker.bootstrapServers,
            cure: "Read on the group", code: 1)
    }

    @Test func `Sound brokers pass every check`() async throws {
        let broker = try EmbeddedBroker(brokers: 3, topics: Self.topics)
        let report = await DoctorFixture.report(["kafka.bootstrapServers": broker.bootstrapServers])
        #expect(report.exitCode(isStrict: true) == 0, "\(report.findings.map(DoctorReport.line))")
        #expect(report.count(.warning) == 0 && report.count(.failed) == 0)
    }
}
