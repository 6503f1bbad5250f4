/// What a person can do about a broker that cannot be reached, judged by librdkafka's words for it.
enum BrokerFailureAdvice {
    /// The oldest librdkafka that current brokers get on with: Tansu's answers can be read from there on, and Kafka 4 has
    /// no `SaslHandshake` as older ones ask for it.
    private static let oldest = LibraryVersion(2, 2)

    /// A part of librdkafka's words, and what to say of it.
    private static let entries: [(fragment: String, advice: String)] = [
        ("connecting to a PLAINTEXT", "it speaks no TLS on this port: check kafka.security.protocol and the port"),
        (
            "certificate verify failed",
            "its certificate is not trusted: kafka.security.caFile must hold the authority that signed it, and the"
                + " certificate must name the host that is connected to"
        ),
        (
            "alert certificate required",
            "it wants a certificate of ours: set kafka.security.certificateFile and kafka.security.keyFile"
        ),
        (
            "alert handshake failure",
            "TLS was refused; it may want a certificate of ours: kafka.security.certificateFile and kafka.security.keyFile"
        ),
        (
            "alert unknown ca",
            "it does not trust the authority of our certificate: check kafka.security.certificateFile"
        ),
        ("alert bad certificate", "it does not take our certificate: check kafka.security.certificateFile"),
        ("alert certificate expired", "our certificate is over: renew kafka.security.certificateFile and start again"),
        (
            "connecting to a SSL listener",
            "it closed the connection at once, as it does where TLS or a login is wanted: check kafka.security.protocol"
        ),
        ("Unsupported SASL mechanism", "it does not offer this way to log in: check kafka.security.sasl.mechanism"),
        ("SASL Handshake not supported", "it offers no login on this port: check kafka.security.protocol and the port"),
        ("OAUTHBEARER token", "no token could be had: check kafka.security.oidc.*"),
        ("SASL authentication error", "it refused the login: check kafka.security.sasl.* and kafka.security.oidc.*"),
        ("SASL SCRAM", "the login failed: check kafka.security.sasl.*"),
    ]

    /// What librdkafka before 2.2.0 says of brokers that are too new for it.
    private static let fragmentsOfAge = [
        "SASL Handshake not supported", "ApiVersionRequest failed: Local: Read underflow",
    ]

    /// Returns the reason with what to do in front of it; the reason alone where nothing is known about it.
    static func explained(_ reason: String, by library: LibraryVersion = .running) -> String {
        if library < oldest, fragmentsOfAge.contains(where: { reason.contains($0) }) {
            return "librdkafka \(library) is too old for this broker: use librdkafka 2.2 or newer; \(reason)"
        }
        guard let entry = entries.first(where: { reason.contains($0.fragment) }) else { return reason }

        return "\(entry.advice); \(reason)"
    }
}
