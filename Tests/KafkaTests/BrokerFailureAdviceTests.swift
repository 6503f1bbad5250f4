import Testing

@testable import Kafka

/// What is said about brokers that cannot be reached, by the words that librdkafka has for it.
struct BrokerFailureAdviceTests {
    private static let (old, new) = (LibraryVersion(2, 0, 2), LibraryVersion(2, 16))

    /// Words of librdkafka 2.0.2 and 2.16 on real connections.
    @Test(arguments: [
        ("SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?", "it speaks no TLS"),
        (
            "SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker",
            "kafka.security.caFile"
        ),
        ("Receive failed: error:0A00045C:SSL routines::tlsv13 alert certificate required", "certificateFile"),
        ("Receive failed: error:0A000418:SSL routines::tlsv1 alert unknown ca: SSL alert number 48", "certificateFile"),
        ("SASL authentication error: Authentication failed: wrong password", "kafka.security.sasl.*"),
        ("Failed to initialize SASL authentication: SASL Handshake not supported by broker", "it offers no login"),
    ])
    func eachKnownReasonSaysWhatToCheckAndStaysReadable(reason: String, advice: String) {
        let text = BrokerFailureAdvice.explained(reason, by: Self.new)
        #expect(text.contains(advice), "\(text)")
        #expect(text.hasSuffix("; \(reason)"))
    }

    @Test(arguments: [
        "ApiVersionRequest failed: Local: Read underflow: probably due to broker version < 0.10",
        "Failed to initialize SASL authentication: SASL Handshake not supported by broker (required by mechanism PLAIN)",
    ])
    func oldLibraryIsToBlameWhereANewOneWouldDo(reason: String) {
        let text = BrokerFailureAdvice.explained(reason, by: Self.old)
        #expect(text == "librdkafka 2.0.2 is too old for this broker: use librdkafka 2.2 or newer; \(reason)")
        #expect(!BrokerFailureAdvice.explained(reason, by: Self.new).contains("too old"))
    }

    @Test func reasonThatNobodyKnowsStaysAsItIs() {
        #expect(BrokerFailureAdvice.explained("Connection refused", by: Self.old) == "Connection refused")
    }
}
