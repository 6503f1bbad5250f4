import InMemoryLogging
import Logging
import Testing

@testable import Kafka

/// librdkafka's log lines about a client never contain a secret of its properties.
@Suite(.closesClients)
struct SecretLogTests {
    private static let secret = "Zq7hiddenWx"

    @Test(arguments: [
        "sasl.oauthbearer.assertion.private.key.passphrase", "sasl.oauthbearer.assertion.private.key.pem",
        "sasl.oauthbearer.token.endpoint.url", "sasl.jaas.config", "ssl_key", "Sasl.Password", "some_token",
    ])
    func `A line of librdkafka is logged without the secret`(name: String) {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.properties = [name: Self.secret, "client.id": "me"]
        let memory = InMemoryLogHandler()
        let log = ClientLog(memory.logger, hiding: configuration.secrets)

        log.write(level: 3, facility: "TEST", line: "me logs in with \(Self.secret)")

        #expect(memory.entries.map { $0.metadata["line"] } == ["me logs in with [hidden]"])
        #expect(!"\(configuration)".contains(Self.secret))
    }

    @Test(arguments: [
        "sasl.oauthbearer.assertion.no.such.property", "no.such.token", "no.such.jaas.config", "no.such.passphrase",
    ])
    func `A property that is refused is named without its value`(name: String) throws {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.properties = [name: Self.secret]

        let error = try configuration.refusal()

        #expect(error?.description.contains(name) == true)
        #expect(error?.description.contains(Self.secret) == false)
    }

    @Test func `A password within a URL is removed from a refusal`() throws {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.properties = ["ssl.endpoint.identification.algorithm": "http://user:\(Self.secret)@host"]

        let error = try configuration.refusal()

        #expect(error?.description.contains("user:[hidden]@host") == true, "\(error?.description ?? "")")
    }

    /// The path of an invalid key file, which librdkafka rejects under the name of its own property.
    @Test func `The refusal of a key file names our setting`() throws {
        var configuration = ConsumerConfiguration(bootstrapServers: "127.0.0.1:1")
        configuration.security.securityProtocol = "ssl"
        configuration.security.keyFile = "/etc/hostname"

        let error = try configuration.refusal()

        #expect(error?.description.contains("kafka.security.keyFile (ssl.key.location)") == true)
    }

    @Test func `A short secret within a long one leaves no rest`() {
        #expect(SecretProperties.hide(["abc", "abcdef"], in: "abcdef abc") == "[hidden] [hidden]")
    }
}
