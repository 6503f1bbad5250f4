import Foundation
import Kafka
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// TLS and logins on real connections: a proxy with TLS and SASL in front of the embedded broker.
@Suite(
    .serialized,
    .enabled(
        if: Certificates.canBeMade && SecureFront.canBeStarted,
        "run `tools/setup tests`: python3 and openssl are missing"))
struct SecureConnectionTests {
    private static let password = SecureFront.user.password

    /// Loads settings below `kafka.security.`.
    private func settings(at address: String, _ security: [String: String]) throws -> Settings {
        var flags = Dictionary(uniqueKeysWithValues: security.map { ("kafka.security.\($0.key)", $0.value) })
        flags["kafka.bootstrapServers"] = address
        return try Settings.load(flags: flags, file: nil, environment: [:])
    }

    private func login(_ mechanism: String, password: String = password) -> [String: String] {
        [
            "protocol": "sasl_plaintext", "sasl.mechanism": mechanism, "sasl.username": SecureFront.user.name,
            "sasl.password": password,
        ]
    }

    private func tokens(_ front: SecureFront, secret: String = SecureFront.client.secret) -> [String: String] {
        [
            "protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER", "oidc.tokenURL": front.tokenURL,
            "oidc.clientId": SecureFront.client.id, "oidc.clientSecret": secret,
        ]
    }

    /// Returns the number of brokers that these settings can reach.
    private func brokers(_ front: SecureFront, _ security: [String: String]) async throws -> Int {
        let admin = try TopicAdmin(try settings(at: front.bootstrapServers, security).consumer(), log: .silent)
        return try await admin.cluster(within: .seconds(20)).brokers.count
    }

    /// Returns the reason why these settings can reach no broker; empty if they can.
    ///
    /// librdkafka reports the reason once per attempt, so on a busy machine the first answer may lack it.
    private func refusal(
        at address: String, _ security: [String: String], expecting text: String
    ) async throws -> String {
        let admin = try TopicAdmin(try settings(at: address, security).consumer(), log: .silent)
        var reason = ""
        for _ in 0..<10 where !reason.contains(text) {
            do throws(KafkaError) {
                _ = try await admin.cluster(within: .seconds(1))
                return ""
            } catch {
                reason = error.description
            }
        }
        return reason
    }

    /// Expects that each of the settings is rejected with the given text.
    private func expectRefusals(
        _ front: SecureFront, _ cases: [(security: [String: String], text: String)]
    ) async throws {
        let address = front.bootstrapServers
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (security, text) in cases {
                group.addTask {
                    let reason = try await refusal(at: address, security, expecting: text)
                    #expect(reason.contains(text), "\(security.keys.sorted()): \(reason)")
                    #expect(!reason.contains("\n"))
                    #expect(!reason.contains("Zq7"), "a secret: \(reason)")
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: - TLS

    @Test func `A broker is trusted by its authority and its name`() async throws {
        let (certificates, broker) = (try await Certificates(), try EmbeddedBroker())
        defer { certificates.remove() }
        func front(as name: Certificates.Name) async throws -> SecureFront {
            try await SecureFront(
                broker.bootstrapServers, ["--cert", certificates.file(name), "--key", certificates.key(name)])
        }
        let (right, wrong) = (try await front(as: .broker), try await front(as: .elsewhere))
        defer { for front in [right, wrong] { front.end() } }
        let trusting = ["protocol": "ssl", "caFile": certificates.file(.authority)]

        #expect(try await brokers(right, trusting) == 1)
        try await expectRefusals(
            right,
            [
                (
                    ["protocol": "ssl", "caFile": certificates.file(.stranger)],
                    "the broker's certificate is not trusted"
                ),
                (["protocol": "ssl"], "the broker's certificate is not trusted"),
            ])
        try await expectRefusals(wrong, [(trusting, "certificate must name the host")])
    }

    @Test func `A broker with or without TLS is named to a client that differs`() async throws {
        let (certificates, broker) = (try await Certificates(), try EmbeddedBroker())
        defer { certificates.remove() }
        let plain = try await SecureFront(broker.bootstrapServers, [])
        let secure = try await SecureFront(
            broker.bootstrapServers, ["--cert", certificates.file(.broker), "--key", certificates.key(.broker)])
        defer { for front in [plain, secure] { front.end() } }

        let text = "this port does not use TLS: check kafka.security.protocol and the port"
        let login = login("PLAIN").merging(["protocol": "sasl_ssl"]) { $1 }
        try await expectRefusals(plain, [(["protocol": "ssl"], text), (login, text)])
        try await expectRefusals(
            secure,
            [
                (["protocol": "plaintext"], "check kafka.security.protocol"),
                (self.login("PLAIN"), "check kafka.security.protocol"),
            ])
    }

    @Test(arguments: [["watch"], ["search", "--lat", "35", "--lng", "139"], ["dead-letters", "list"]])
    func `A web server in place of a broker is named`(command: [String]) async throws {
        let server = try RawServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            connection.endSending()
            connection.waitForClose()
        }
        defer { server.stop() }

        let tool = try await RunningProgram.run(
            command + ["--timeout", "3s"], environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(server.port)"])
        #expect(tool.code == 69, "\(tool.error)")
        #expect(tool.error.contains("a web server uses this port, not a broker"), "\(tool.error)")
    }

    @Test func `A client presents its certificate if the broker requires one`() async throws {
        let (certificates, broker) = (try await Certificates(), try EmbeddedBroker())
        defer { certificates.remove() }
        let front = try await SecureFront(
            broker.bootstrapServers,
            [
                "--cert", certificates.file(.broker), "--key", certificates.key(.broker), "--client-ca",
                certificates.file(.authority),
            ])
        defer { front.end() }
        let trusting = ["protocol": "ssl", "caFile": certificates.file(.authority)]
        func showing(_ name: Certificates.Name) -> [String: String] {
            trusting.merging(["certificateFile": certificates.file(name), "keyFile": certificates.key(name)]) { $1 }
        }

        #expect(try await brokers(front, showing(.client)) == 1)
        try await expectRefusals(
            front,
            [
                (trusting, "the broker requires a client certificate: set kafka.security.certificateFile"),
                (showing(.intruder), "the broker does not trust the CA of the client certificate"),
            ])
    }

    // MARK: - Logins

    @Test func `Each login mechanism accepts only the right password`() async throws {
        let broker = try EmbeddedBroker()
        let front = try await SecureFront(broker.bootstrapServers, ["--sasl"])
        defer { front.end() }
        let mechanisms = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

        for mechanism in mechanisms { #expect(try await brokers(front, login(mechanism)) == 1, "\(mechanism)") }
        try await expectRefusals(
            front,
            mechanisms.map { (login($0, password: "Zq7wrong"), "rejected the login: check kafka.security.sasl.*") })
    }

    @Test func `A library whose SCRAM Kafka 4 rejects is named`() async throws {
        let broker = try EmbeddedBroker()
        let front = try await SecureFront(broker.bootstrapServers, ["--sasl", "--strict-nonce"])
        defer { front.end() }

        for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
            guard LibraryVersion.running < LibraryVersion(2, 6, 1) else {
                #expect(try await brokers(front, login(mechanism)) == 1, "\(mechanism)")
                continue
            }
            let text = "Kafka 4 rejects SCRAM from librdkafka before 2.6.1"
            try await expectRefusals(front, [(login(mechanism), text)])
        }
    }

    /// librdkafka in Debian 12 was built without OIDC.
    private static let hasOIDC: Bool = {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.properties = ["sasl.oauthbearer.client.id": "a"]
        return (try? TopicAdmin(configuration, log: .silent)) != nil
    }()

    @Test(.enabled(if: hasOIDC, "this librdkafka was built without OIDC"))
    func `A client logs in with a token of its provider`() async throws {
        let broker = try EmbeddedBroker()
        let front = try await SecureFront(broker.bootstrapServers, ["--sasl"])
        defer { front.end() }

        #expect(try await brokers(front, tokens(front)) == 1)
        try await expectRefusals(front, [(tokens(front, secret: "Zq7wrong"), "check kafka.security.oidc.*")])
    }

    @Test(.enabled(if: !hasOIDC, "this librdkafka was built with OIDC"))
    func `A library without OIDC is named`() async throws {
        let broker = try EmbeddedBroker()
        let front = try await SecureFront(broker.bootstrapServers, ["--sasl"])
        defer { front.end() }

        let error = await #expect(throws: KafkaError.self) { try await brokers(front, tokens(front)) }
        #expect(error?.kind == .configuration)
        #expect(error?.description.hasPrefix("kafka.security.oidc.clientId") == true)
        #expect(error?.description.hasSuffix("use a librdkafka that was built with it") == true)
    }

    // MARK: - Old libraries and new brokers

    /// librdkafka before 2.2 cannot distinguish a port without logins from a broker that supports no common version of the request.
    /// So its error text names both.
    @Test func `A port without SASL is named before the library`() async throws {
        let broker = try EmbeddedBroker()
        // One without version 0 of SaslHandshake, and one without SaslHandshake at all, as a port without logins may be.
        let new = try await SecureFront(broker.bootstrapServers, ["--sasl", "--handshake-from", "1"])
        let without = try await SecureFront(broker.bootstrapServers, ["--without", "17", "36"])
        defer { for front in [new, without] { front.end() } }

        try await expectRefusals(without, [(login("PLAIN"), "this port does not support SASL")])
        guard LibraryVersion.running < LibraryVersion(2, 2) else {
            #expect(try await brokers(new, login("PLAIN")) == 1)
            return
        }
        try await expectRefusals(
            new,
            [
                (
                    login("PLAIN"),
                    "this port does not support SASL, or only a version that librdkafka \(LibraryVersion.running) lacks"
                ),
                (login("PLAIN"), "if they are right, use librdkafka 2.2 or newer"),
            ])
    }

    // MARK: - A whole worker

    @Test(.timeLimit(.minutes(2))) func `A worker serves requests over mutual TLS and SCRAM`() async throws {
        let topics = Dictionary(uniqueKeysWithValues: WorkerConfiguration.Topics().all.map { ($0, 2) })
        let (certificates, broker) = (try await Certificates(), try EmbeddedBroker(topics: topics))
        broker.setGroupDelay(.milliseconds(300))
        defer { certificates.remove() }
        let front = try await SecureFront(
            broker.bootstrapServers,
            [
                "--sasl", "--cert", certificates.file(.broker), "--key", certificates.key(.broker), "--client-ca",
                certificates.file(.authority),
            ])
        let simulator = try RunningProgram(["simulate"])
        defer {
            front.end()
            simulator.end()
        }
        let password = FileManager.default.temporaryDirectory.appending(path: "password-\(UUID().uuidString)")
        try "\(Self.password)\n".write(to: password, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: password) }

        let environment = [
            "KAFKA_BOOTSTRAP_SERVERS": front.bootstrapServers, "KAFKA_SECURITY_PROTOCOL": "sasl_ssl",
            "KAFKA_SECURITY_CA_FILE": certificates.file(.authority),
            "KAFKA_SECURITY_CERTIFICATE_FILE": certificates.file(.client),
            "KAFKA_SECURITY_KEY_FILE": certificates.key(.client), "KAFKA_SECURITY_SASL_MECHANISM": "SCRAM-SHA-512",
            "KAFKA_SECURITY_SASL_USERNAME": SecureFront.user.name, "KAFKA_SECURITY_SASL_PASSWORD_FILE": password.path,
            "HOTPEPPER_API_KEY": "test", "HOTPEPPER_BASE_URL": try await simulator.address(), "ADMIN_PORT": "0",
            "WORKER_SHUTDOWN_GRACE": "0s",
        ]
        let worker = try RunningProgram(["worker"], environment: environment)
        defer { worker.end() }
        let search = try await RunningProgram.run(
            ["search", "--lat", "35.69", "--lng", "139.7", "--timeout", "40s"], environment: environment)
        #expect(search.code == 0, "\(search.error) \(worker.error)")
        #expect(!(worker.error + worker.output + search.error + search.output).contains("Zq7front"))
    }
}
