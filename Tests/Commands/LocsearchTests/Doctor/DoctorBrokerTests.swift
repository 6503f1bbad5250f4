import Foundation
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// Set-ups with a fault between a worker and its brokers, on real connections.
@Suite(.serialized, .enabled(if: TestBroker.isEmbedded, "the brokers of these tests are told to fail"))
struct DoctorBrokerTests {
    private static let topics = Dictionary(
        uniqueKeysWithValues: (WorkerConfiguration.Topics().all + [WorkerConfiguration.Topics().fleet]).map { ($0, 12) }
    )

    private static func wrong(
        _ name: String, _ settings: [String: String] = [:], check: String, state: Finding.State = .failed,
        _ text: String,
        cure: String? = nil, code: Int32 = 69
    ) -> WrongSetUp {
        WrongSetUp(
            testDescription: name, settings: settings, check: check, state: state, text: text, cure: cure, code: code)
    }

    private func check(_ wrong: WrongSetUp, at address: String) async {
        let settings = wrong.settings.merging(["kafka.bootstrapServers": address]) { own, _ in own }
        let report = await DoctorFixture.report(settings, timeout: .seconds(2))
        DoctorFixture.expect(report, finds: wrong)
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
        await check(
            Self.wrong(
                "no such name", check: "connection", "Failed to resolve 'nowhere.invalid:9092'",
                cure: "add the name to the DNS"),
            at: "nowhere.invalid:9092")
        await check(
            Self.wrong(
                "nobody listens", check: "connection", "no connection: \(closed) (Connection refused",
                cure: "start the broker"),
            at: closed)

        let broker = try EmbeddedBroker(topics: Self.topics)
        await check(
            Self.wrong("one of two is gone", check: "connection", state: .warning, "no connection: \(closed)"),
            at: "\(closed),\(broker.bootstrapServers)")
        await check(
            Self.wrong("one of two has no name", check: "connection", state: .warning, "Failed to resolve"),
            at: "\(broker.bootstrapServers),nowhere.invalid:9092")
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
        #expect(
            findings.first?.text.hasPrefix("broker 2 advertises \(closed), but there is no connection: ") == true)
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
            (closing, "the broker closed the connection at once"), (silent, "no answer within 2s"),
        ] {
            await check(Self.wrong(text, check: "connection", text), at: "127.0.0.1:\(server.port)")
        }
    }

    @Test func `The doctor finds a port without TLS or SASL`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        await check(
            Self.wrong(
                "TLS at a plain port", ["kafka.security.protocol": "ssl"], check: "connection",
                "this port does not use TLS: check kafka.security.protocol", cure: "docs/access.md"),
            at: broker.bootstrapServers)
        await check(
            Self.wrong(
                "a login where there is none", login("PLAIN"), check: "connection",
                "this port does not support SASL", cure: "docs/access.md"),
            at: broker.bootstrapServers)
    }

    @Test(.enabled(if: SecureFront.canBeStarted, "python3 is missing"))
    func `The doctor finds a wrong login`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        let front = try await SecureFront(broker.bootstrapServers, ["--sasl"])
        defer { front.end() }

        await check(
            Self.wrong(
                "no login where one is wanted", check: "connection",
                "the broker closed the connection at once; it may require SASL: check kafka.security.protocol"),
            at: front.bootstrapServers)
        await check(
            Self.wrong(
                "a wrong password", login("PLAIN", password: "Zq7wrong"), check: "connection",
                "the broker rejected the login",
                cure: "docs/access.md"),
            at: front.bootstrapServers)

        let right = login("PLAIN").merging(["kafka.bootstrapServers": front.bootstrapServers]) { $1 }
        let report = await DoctorFixture.report(right)
        #expect(report.exitCode() == 0, "\(report.findings.map(DoctorReport.line))")
        #expect(report.findings.contains { $0.check == "connection" && $0.text.hasSuffix("logged in as ann by PLAIN") })
    }

    @Test(.enabled(if: SecureFront.canBeStarted, "python3 is missing"))
    func `The doctor finds a login that the library cannot do`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        let front = try await SecureFront(broker.bootstrapServers, ["--sasl", "--strict-nonce"])
        defer { front.end() }
        guard LibraryVersion.running < LibraryVersion(2, 6, 1) else { return }

        let wrong = Self.wrong(
            "SCRAM with an old library", login("SCRAM-SHA-512"), check: "connection",
            "Kafka 4 rejects SCRAM from librdkafka before 2.6.1")
        await check(wrong, at: front.bootstrapServers)
    }

    @Test(
        .enabled(
            if: Certificates.canBeMade && SecureFront.canBeStarted,
            "run `tools/setup tests`: python3 and openssl are missing"))
    func `The doctor finds a certificate that is not trusted`() async throws {
        let (certificates, broker) = (try await Certificates(), try EmbeddedBroker(topics: Self.topics))
        defer { certificates.remove() }
        func front(as name: Certificates.Name, _ more: [String] = []) async throws -> SecureFront {
            try await SecureFront(
                broker.bootstrapServers, ["--cert", certificates.file(name), "--key", certificates.key(name)] + more)
        }
        let (right, wrong) = (try await front(as: .broker), try await front(as: .elsewhere))
        let mutual = try await front(as: .broker, ["--client-ca", certificates.file(.authority)])
        defer { for front in [right, wrong, mutual] { front.end() } }
        let trusting = ["kafka.security.protocol": "ssl", "kafka.security.caFile": certificates.file(.authority)]
        let strange = trusting.merging(["kafka.security.caFile": certificates.file(.stranger)]) { $1 }

        await check(
            Self.wrong("TLS where none is expected", check: "connection", "check kafka.security.protocol"),
            at: right.bootstrapServers)
        await check(
            Self.wrong(
                "an authority that signed nothing", strange, check: "connection",
                "the broker's certificate is not trusted"),
            at: right.bootstrapServers)
        await check(
            Self.wrong(
                "another host's certificate", trusting, check: "connection", "must name the host"),
            at: wrong.bootstrapServers)
        await check(
            Self.wrong(
                "no certificate of ours", trusting, check: "connection", "the broker requires a client certificate"),
            at: mutual.bootstrapServers)

        let report = await DoctorFixture.report(
            trusting.merging(["kafka.bootstrapServers": right.bootstrapServers]) { $1 })
        #expect(report.exitCode() == 0, "\(report.findings.map(DoctorReport.line))")
    }

    // MARK: - Capabilities of brokers

    @Test(.enabled(if: SecureFront.canBeStarted, "python3 is missing"))
    func `The doctor finds brokers that lack a required feature`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        let (old, older) = (
            try await SecureFront(broker.bootstrapServers, ["--without", "24", "25"]),
            try await SecureFront(broker.bootstrapServers, ["--without", "22"])
        )
        defer { for front in [old, older] { front.end() } }

        await check(
            Self.wrong(
                "transactions where there are none", ["worker.delivery": "exactly-once"], check: "versions",
                "these brokers do not support transactions", cure: "at-least-once", code: 1),
            at: old.bootstrapServers)
        await check(
            Self.wrong(
                "no idempotent producers", check: "versions", "do not support idempotent producers",
                cure: "0.11 or newer",
                code: 1),
            at: older.bootstrapServers)
    }

    // MARK: - Topics, rights and the group

    @Test func `The doctor finds wrong topics`() async throws {
        let names = WorkerConfiguration.Topics()
        var topics = Self.topics
        topics[names.results] = nil
        topics[names.requests] = 2
        let broker = try EmbeddedBroker(topics: topics)
        await check(
            Self.wrong(
                "no topic for results", check: "topics", "\(names.results) (topics.results) does not exist",
                cure: "locsearch topics create", code: 1),
            at: broker.bootstrapServers)
        await check(
            Self.wrong(
                "few partitions", check: "topics", state: .warning, "\(names.requests): partitions is 2",
                cure: "--add-partitions"
            ), at: broker.bootstrapServers)
        await check(
            Self.wrong(
                "more loops than partitions", ["worker.loops": "4"], check: "topics", state: .warning,
                "some loops stay idle", cure: "lower worker.loops"),
            at: broker.bootstrapServers)
        await check(
            Self.wrong("one broker", check: "brokers", state: .warning, "there is only one broker", cure: "use three"),
            at: broker.bootstrapServers)
        await check(
            Self.wrong(
                "a fleet topic of many partitions", ["providers.hotpepper.requestsPerSecond": "5"], check: "fleet",
                state: .warning, "\(names.fleet) has 12 partitions", cure: "with one partition"),
            at: broker.bootstrapServers)
        await check(
            Self.wrong(
                "no fleet topic", ["providers.hotpepper.callsPerDay": "500", "topics.fleet": "nowhere"], check: "fleet",
                "nowhere is missing", cure: "locsearch topics create", code: 1),
            at: broker.bootstrapServers)
    }

    @Test func `The doctor finds missing rights`() async throws {
        let broker = try EmbeddedBroker(topics: Self.topics)
        broker.fail(.fetch, with: 29, count: 50)
        await check(
            Self.wrong(
                "no right to read requests", check: "rights", "location-search.requests cannot be read", cure: "Read",
                code: 1),
            at: broker.bootstrapServers)
        broker.clearFailures(of: .fetch)

        broker.fail(.offsetFetch, with: 30, count: 50)
        await check(
            Self.wrong(
                "no right on the group", check: "group", "the group location-search-worker cannot be used",
                cure: "Read on the group", code: 1),
            at: broker.bootstrapServers)
    }

    @Test func `Sound brokers pass every check`() async throws {
        let broker = try EmbeddedBroker(brokers: 3, topics: Self.topics)
        let report = await DoctorFixture.report(["kafka.bootstrapServers": broker.bootstrapServers])
        #expect(report.exitCode(isStrict: true) == 0, "\(report.findings.map(DoctorReport.line))")
        #expect(report.count(.warning) == 0 && report.count(.failed) == 0)
    }
}
