/// Advice for operators about an unreachable broker, chosen by the text of librdkafka's error.
enum BrokerFailureAdvice {
    private static let noTLS = "this port does not use TLS: check kafka.security.protocol and the port"
    /// The reason for a broker that accepts a connection and then sends nothing.
    static let silent =
        "the port accepts connections, but nothing answers: the broker may be frozen or overloaded, or the port is not Kafka's"
    private static let noLogin = "this port does not support SASL"
    private static let closedAtOnce =
        "the broker closed the connection at once; it may require TLS: check kafka.security.protocol"
    private static let closedBeforeLogin =
        "the broker closed the connection at once; it may require SASL: check kafka.security.protocol"

    /// A fragment of librdkafka's error text, and the advice for it.
    private static let entries: [(fragment: String, advice: String)] = [
        ("connecting to a PLAINTEXT", noTLS), ("wrong version number", noTLS),
        (
            "certificate verify failed",
            "the broker's certificate is not trusted: kafka.security.caFile must contain the CA that signed it, and the"
                + " certificate must name the host"
        ),
        (
            "alert certificate required",
            "the broker requires a client certificate: set kafka.security.certificateFile and kafka.security.keyFile"
        ),
        (
            "alert handshake failure",
            "the TLS handshake failed; the broker may require a client certificate: check"
                + " kafka.security.certificateFile and kafka.security.keyFile"
        ),
        (
            "alert unknown ca",
            "the broker does not trust the CA of the client certificate: check kafka.security.certificateFile"
        ),
        ("alert bad certificate", "the broker rejected the client certificate: check kafka.security.certificateFile"),
        (
            "alert certificate expired",
            "the client certificate has expired: renew kafka.security.certificateFile, then restart"
        ),
        ("connecting to a SSL listener", closedAtOnce), ("might require SASL authentication", closedBeforeLogin),
        (
            "Unsupported SASL mechanism",
            "the broker does not support this SASL mechanism: check kafka.security.sasl.mechanism"
        ),
        ("SASL Handshake not supported", "\(noLogin): check kafka.security.protocol and the port"),
        ("not valid in current SASL state", "\(noLogin): check kafka.security.protocol and the port"),
        ("OAUTHBEARER token", "no OAuth token received: check kafka.security.oidc.*"),
        (
            "SASL authentication error",
            "the broker rejected the login: check kafka.security.sasl.* and kafka.security.oidc.*"
        ),
        ("SASL SCRAM", "the login failed: check kafka.security.sasl.*"),
    ]

    /// Returns the reason with advice in front of it, or the reason unchanged if there is no advice for it.
    /// - Parameter end: The state in which the connection ended.
    static func explained(
        _ reason: String, at end: ConnectionEnd? = nil, by library: LibraryVersion = .running
    ) -> String {
        if let size = responseSize(in: reason), let advice = advice(onResponseOf: size) {
            // librdkafka's own advice, to allow larger answers, would not help.
            let words = reason.firstRange(of: ": increase ").map { reason[..<$0.lowerBound] } ?? reason[...]
            return "\(advice); \(words)"
        }

        // librdkafka suspects an old broker, which is misleading.
        if reason.contains("ApiVersionRequest failed: Local: Timed out") { return silent }
        let known =
            adviceOnAge(reason, library: library) ?? entries.first { reason.contains($0.fragment) }?.advice
            ?? end.flatMap { advice(onDisconnection: reason, at: $0) }
        return known.map { "\($0); \(reason)" } ?? reason
    }

    /// Advice for a connection that the broker closed. Brokers close a connection without a reason if the client uses
    /// the wrong protocol.
    private static func advice(onDisconnection reason: String, at end: ConnectionEnd) -> String? {
        guard reason.contains("Disconnected") || reason.contains("unexpected eof") else { return nil }
        switch end.state {
        case "SSL_HANDSHAKE": return noTLS
        case "APIVERSION_QUERY": return closedAtOnce
        // A Kafka broker that requires a login answers the version request of any client, and closes the connection at
        // the next request. A broker that shuts down closes connections that have been up for longer.
        case "UP" where end.milliseconds < 1000: return closedBeforeLogin
        default: return nil
        }
    }

    /// Returns advice if the library is too old for the broker, or may be too old; otherwise `nil`.
    private static func adviceOnAge(_ reason: String, library: LibraryVersion) -> String? {
        if library < .oldestForAllBrokers, reason.contains("ApiVersionRequest failed: Local: Read underflow") {
            return "librdkafka \(library) is too old for this broker: use librdkafka 2.2 or newer"
        }
        // This library reports the same error in two cases: the broker has no logins, or it uses a version of the
        // request that the library lacks.
        if library < .oldestForAllBrokers, reason.contains("SASL Handshake not supported") {
            return
                "\(noLogin), or only a version that librdkafka \(library) lacks: check kafka.security.protocol and the"
                + " port; if they are right, use librdkafka 2.2 or newer"
        }
        if library < .oldestWithSCRAM, reason.contains("SASL authentication error"), reason.contains("SCRAM") {
            return
                "the broker rejected the login: check kafka.security.sasl.*; Kafka 4 rejects SCRAM from librdkafka"
                + " before \(LibraryVersion.oldestWithSCRAM), whatever the password, and this is \(library)"
        }
        return nil
    }

    /// The response size that librdkafka rejected; `nil` if the reason is a different one.
    private static func responseSize(in reason: String) -> UInt32? {
        guard let found = reason.firstRange(of: "Invalid response size ") else { return nil }
        // bounded: a text that is no number, or too large, gives nil
        return Int32(reason[found.upperBound...].prefix { $0.isNumber || $0 == "-" }).map { UInt32(bitPattern: $0) }
    }

    /// Recognizes the protocol of an answer that is not Kafka's. A Kafka answer begins with its length, so librdkafka
    /// reports the first four bytes of any answer as its size.
    private static func advice(onResponseOf size: UInt32) -> String? {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
        if bytes == Array("HTTP".utf8) {
            return "a web server uses this port, not a broker: check the ports in kafka.bootstrapServers"
        }

        let isTLS = (0x14...0x17).contains(bytes[0]) && bytes[1] == 3
        if isTLS { return "this port uses TLS: check kafka.security.protocol and the port" }

        let isText = bytes.allSatisfy { (0x20...0x7E).contains($0) }
        return isText ? "another service uses this port, not a broker: check the ports in kafka.bootstrapServers" : nil
    }
}
