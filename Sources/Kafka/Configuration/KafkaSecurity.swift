/// TLS and SASL, `kafka.security.*`. `nil` leaves librdkafka's default.
public struct KafkaSecurity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`.
    public var securityProtocol: String?
    /// PEM file with the authorities to trust; `nil`: the system's.
    public var caFile: String?
    /// PEM file with our certificate, for TLS client authentication.
    public var certificateFile: String?
    public var keyFile: String?
    public var keyPassword: String?
    /// `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`.
    public var saslMechanism: String?
    public var saslUsername: String?
    public var saslPassword: String?
    /// Whether the broker's certificate must name the host that was asked for.
    public var verifiesHostname = true

    public init() {}

    var properties: [String: String] {
        [
            "security.protocol": securityProtocol, "ssl.ca.location": caFile,
            "ssl.certificate.location": certificateFile, "ssl.key.location": keyFile,
            "ssl.key.password": keyPassword, "sasl.mechanism": saslMechanism, "sasl.username": saslUsername,
            "sasl.password": saslPassword,
            // Written out: the library's own default was not to check, before 2.0.
            "ssl.endpoint.identification.algorithm": verifiesHostname ? "https" : "none",
        ].compactMapValues { $0 }
    }

    /// Without passwords.
    public var description: String { securityProtocol ?? "plaintext" }
    public var customMirror: Mirror { Mirror(self, children: ["protocol": description]) }

    /// Whether the value of one of librdkafka's properties is nobody's business.
    public static func isSecret(property name: String) -> Bool { ClientSettings.isSecret(name) }

    /// What must not show in a log line.
    var secrets: [String] { [keyPassword, saslPassword].compactMap { $0 } }
}
