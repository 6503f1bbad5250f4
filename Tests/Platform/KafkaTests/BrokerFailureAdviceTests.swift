import Testing

@testable import Kafka

/// The advice about unreachable brokers, based on librdkafka's error texts.
struct BrokerFailureAdviceTests {
    private static let (old, new) = (LibraryVersion(2, 0, 2), LibraryVersion(2, 16))

    /// Error texts of librdkafka 2.0.2 and 2.16 on real connections.
    @Test(arguments: [
        (
            "SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?",
            "this port does not use TLS"
        ),
        (
            "SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker",
            "kafka.security.caFile"
        ),
        ("Receive failed: error:0A00045C:SSL routines::tlsv13 alert certificate required", "certificateFile"),
        ("Receive failed: error:0A000418:SSL routines::tlsv1 alert unknown ca: SSL alert number 48", "certificateFile"),
        ("SASL authentication error: Authentication failed: wrong password", "kafka.security.sasl.*"),
        (
            "Failed to initialize SASL authentication: SASL Handshake not supported by broker",
            "this port does not support SASL"
        ),
    ])
    func `The advice for each known reason names what to check`(reason: String, advice: String) {
        let text = BrokerFailureAdvice.explained(reason, by: Self.new)
        #expect(text.contains(advice), "\(text)")
        #expect(text.hasSuffix("; \(reason)"))
    }

    @Test func `A broker that accepts a connection and does not answer has a reason of its own`() {
        let reason = "ApiVersionRequest failed: Local: Timed out: probably due to broker version < 0.10"
        #expect(BrokerFailureAdvice.explained(reason) == BrokerFailureAdvice.silent)
        let failures = BrokerFailures()
        let error = failures.explain(KafkaError(librdkafkaCode: -187, doing: "look up topics"))
        #expect(error.description == "look up topics: no broker answers: \(BrokerFailureAdvice.silent)")
        let late = failures.explain(KafkaError(librdkafkaCode: -185, doing: "x"))
        #expect(late.description == "x: no answer in time", "brokers that answered are not suspected")
    }

    /// librdkafka's own codes are negative; the others are those of the protocol.
    @Test(
        arguments: [
            (-192, "x: no broker acknowledged the record in time"), (-185, "x: no answer in time"),
            (-195, "x: Broker transport failure"), (-187, "x: no broker answers"),
            (29, "x: Broker: Topic authorization failed (TOPIC_AUTHORIZATION_FAILED)"),
        ] as [(Int32, String)])
    func `An error has words for users`(code: Int32, text: String) {
        #expect(KafkaError(librdkafkaCode: code, doing: "x").description == text)
    }

    @Test func `No error has a name of librdkafka`() {
        for code in Int32(-200)...(-1) {
            let text = KafkaError(librdkafkaCode: code, doing: "x").description
            #expect(!text.contains("(_") && !text.contains("Local:"), "\(text)")
        }
    }

    @Test func `The advice names an old library if a new one would work`() {
        let reason = "ApiVersionRequest failed: Local: Read underflow: probably due to broker version < 0.10"
        let text = BrokerFailureAdvice.explained(reason, by: Self.old)
        #expect(text == "librdkafka 2.0.2 is too old for this broker: use librdkafka 2.2 or newer; \(reason)")
        #expect(!BrokerFailureAdvice.explained(reason, by: Self.new).contains("too old"))
    }

    /// librdkafka 2.0.2 has the same error for a broker without logins and for one that supports only the newer request for them.
    @Test func `The advice names the port before an old library`() throws {
        let reason =
            "Failed to initialize SASL authentication: SASL Handshake not supported by broker (required by mechanism PLAIN)"
        let text = BrokerFailureAdvice.explained(reason, by: Self.old)
        #expect(text.hasPrefix("this port does not support SASL"), "\(text)")
        let port = try #require(text.firstRange(of: "check kafka.security.protocol and the port"))
        let library = try #require(text.firstRange(of: "librdkafka 2.2 or newer"))
        #expect(port.upperBound < library.lowerBound)
        #expect(!BrokerFailureAdvice.explained(reason, by: Self.new).contains("2.2 or newer"))
    }

    @Test(arguments: [(LibraryVersion(2, 6, 0), true), (LibraryVersion(2, 6, 1), false)])
    func `The advice names a library that writes the nonce twice`(library: LibraryVersion, isNamed: Bool) {
        let reason =
            "SASL authentication error: Authentication failed during authentication due to invalid credentials with"
            + " SASL mechanism SCRAM-SHA-512"
        let text = BrokerFailureAdvice.explained(reason, by: library)
        #expect(text.hasPrefix("the broker rejected the login: check kafka.security.sasl.*"), "\(text)")
        #expect(text.contains("Kafka 4 rejects SCRAM from librdkafka before 2.6.1") == isNamed, "\(text)")

        let plain = reason.replacing("SCRAM-SHA-512", with: "PLAIN")
        #expect(!BrokerFailureAdvice.explained(plain, by: library).contains("2.6.1"))
    }

    private static func size(_ bytes: Int) -> String {
        "Receive failed: Invalid response size \(bytes) (0..100000000): increase receive.message.max.bytes"
    }

    /// Log lines of librdkafka 2.0.2 and 2.16 on real connections to Kafka 4.1, to the embedded broker, to
    /// other servers, and with a wrong protocol.
    @Test(arguments: [
        ("error:0A000126:SSL routines::unexpected eof while reading", "SSL_HANDSHAKE", "this port does not use TLS"),
        ("Disconnected: SSL connection closed by peer", "SSL_HANDSHAKE", "this port does not use TLS"),
        (
            "SASL PLAIN mechanism handshake failed: Broker: Request not valid in current SASL state: broker's supported"
                + " mechanisms: ", "AUTH_HANDSHAKE", "this port does not support SASL"
        ),
        (
            "Disconnected: verify that security.protocol is correctly configured, broker might require SASL"
                + " authentication", "UP", "the broker closed the connection at once"
        ),
        (
            "Disconnected: connection closed by peer: receive 0 after POLLIN", "UP",
            "the broker closed the connection at once"
        ),
        ("Disconnected", "SSL_HANDSHAKE", "this port does not use TLS"),
        ("Disconnected: connection reset by peer", "SSL_HANDSHAKE", "this port does not use TLS"),
        (
            "SSL handshake failed: error:0A00010B:SSL routines::wrong version number", "SSL_HANDSHAKE",
            "does not use TLS"
        ),
        ("Disconnected: connection reset by peer", "APIVERSION_QUERY", "the broker closed the connection at once"),
        (size(1_213_486_160), "APIVERSION_QUERY", "a web server uses this port, not a broker"),
        (size(352_518_912), "APIVERSION_QUERY", "this port uses TLS"),
        (size(1_397_966_893), "APIVERSION_QUERY", "another service uses this port, not a broker"),
    ])
    func `First bytes and connection state tell what is no broker`(reason: String, state: String, advice: String) {
        let failures = BrokerFailures()
        failures.note(
            line: "[thrd:ssl://kafka:9093/bootstrap]: ssl://kafka:9093/1: \(reason) (after 2ms in state \(state))")

        let text = failures.summary ?? ""
        #expect(text.hasPrefix("kafka:9093 (") && text.contains(advice), "\(text)")
        #expect(!text.contains("receive.message.max.bytes"), "\(text)")
    }

    @Test(arguments: [
        "Disconnected", "Receive failed: Connection reset by peer", size(100_000_001), size(-9),
    ])
    func `A reason that may be a broker's own stays unchanged`(reason: String) {
        let end = ConnectionEnd(state: "UP", milliseconds: 60_000)
        #expect(BrokerFailureAdvice.explained(reason, at: end, by: Self.old) == reason)
    }

    @Test func `An unknown reason stays unchanged`() {
        #expect(BrokerFailureAdvice.explained("Connection refused", by: Self.old) == "Connection refused")
    }
}
