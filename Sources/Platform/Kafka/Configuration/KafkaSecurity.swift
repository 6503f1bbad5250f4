internal import Basics

/// TLS and SASL settings, `kafka.security.*`. A value of `nil` keeps librdkafka's default.
public struct KafkaSecurity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `kafka.security.protocol`: `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`.
    public var securityProtocol: String?
    /// `kafka.security.caFile`: a PEM file with the trusted certificate authorities; `nil` trusts the system's.
    public var caFile: String?
    /// `kafka.security.certificateFile`: a PEM file with the client's certificate, for TLS client authentication.
    public var certificateFile: String?
    /// `kafka.security.keyFile`: a PEM file with the private key of the client's certificate.
    public var keyFile: String?
    /// `kafka.security.keyPassword`: the password of that key. Secret.
    public var keyPassword: String?
    /// `kafka.security.sasl.mechanism`: `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`.
    public var saslMechanism: String?
    /// `kafka.security.sasl.username`: the user to log in as.
    public var saslUsername: String?
    /// `kafka.security.sasl.password`: the user's password. Secret.
    public var saslPassword: String?
    /// `kafka.security.oidc.*`: how `OAUTHBEARER` gets its tokens. `nil` if it is not used, or is configured by
    /// librdkafka's own properties.
    public var oidc: OIDC?
    /// True if the broker's certificate must name the host that the client connected to.
    public var verifiesHostname = true

    /// The client of an OpenID provider, which issues its tokens (OAuth's client credentials grant). librdkafka fetches
    /// a new token before the last one expires.
    public struct OIDC: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        /// `kafka.security.oidc.tokenURL`: the provider's token endpoint.
        public var tokenURL: String
        /// `kafka.security.oidc.clientId`: the client's id at the provider.
        public var clientID: String
        /// `kafka.security.oidc.clientSecret`: the client's password at the provider. Secret.
        public var clientSecret: String

        public init(tokenURL: String, clientID: String, clientSecret: String) {
            (self.tokenURL, self.clientID, self.clientSecret) = (tokenURL, clientID, clientSecret)
        }

        /// Only the client's id, so that no secret is printed by accident.
        public var description: String { clientID }
        public var customMirror: Mirror { Mirror(self, children: ["clientID": clientID]) }

        /// The secret itself, and the encoding of it that is sent to the token endpoint (RFC 7617).
        fileprivate var secrets: [String] {
            [clientSecret, Base64.encode(Array("\(clientID):\(clientSecret)".utf8))]
        }

        fileprivate var properties: [String: String] {
            [
                "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.token.endpoint.url": tokenURL,
                "sasl.oauthbearer.client.id": clientID, "sasl.oauthbearer.client.secret": clientSecret,
            ]
        }
    }

    /// Keeps all of librdkafka's defaults: no TLS, no login.
    public init() {}

    /// The settings as librdkafka's properties. No other code knows these names.
    var properties: [String: String] {
        [
            "security.protocol": securityProtocol, "ssl.ca.location": caFile,
            "ssl.certificate.location": certificateFile, "ssl.key.location": keyFile,
            "ssl.key.password": keyPassword, "sasl.mechanism": saslMechanism, "sasl.username": saslUsername,
            "sasl.password": saslPassword,
            // Set explicitly, because librdkafka before 2.0 did not check the name by default.
            "ssl.endpoint.identification.algorithm": verifiesHostname ? "https" : "none",
        ].compactMapValues { $0 }.merging(oidc?.properties ?? [:]) { own, _ in own }
    }

    /// Only the protocol, so that no password is printed by accident.
    public var description: String { securityProtocol ?? "plaintext" }
    public var customMirror: Mirror { Mirror(self, children: ["protocol": description]) }

    /// The passwords, which must be removed from log lines and error texts.
    var secrets: [String] { [keyPassword, saslPassword].compactMap { $0 } + (oidc?.secrets ?? []) }
}

// MARK: - Names of settings for librdkafka's properties

extension KafkaSecurity {
    /// The setting that corresponds to each of librdkafka's properties.
    public static let settingNames = [
        "security.protocol": "kafka.security.protocol", "ssl.ca.location": "kafka.security.caFile",
        "ssl.certificate.location": "kafka.security.certificateFile", "ssl.key.location": "kafka.security.keyFile",
        "ssl.key.password": "kafka.security.keyPassword", "sasl.mechanism": "kafka.security.sasl.mechanism",
        "sasl.mechanisms": "kafka.security.sasl.mechanism", "sasl.username": "kafka.security.sasl.username",
        "sasl.password": "kafka.security.sasl.password",
        "sasl.oauthbearer.token.endpoint.url": "kafka.security.oidc.tokenURL",
        "sasl.oauthbearer.client.id": "kafka.security.oidc.clientId",
        "sasl.oauthbearer.client.secret": "kafka.security.oidc.clientSecret",
    ]

    /// Returns librdkafka's text with the setting's name in front of the property's name, so that a reader finds what
    /// to change: `kafka.security.keyFile (ssl.key.location) failed: ...`.
    static func namingSettings(in text: String) -> String {
        // The longest name first, because `sasl.mechanism` is a part of `sasl.mechanisms`.
        let names = settingNames.sorted { $0.key.count > $1.key.count }
        guard let (property, setting) = names.first(where: { text.contains($0.key) }) else { return text }

        return text.replacing(property, with: "\(setting) (\(property))", maxReplacements: 1)
    }
}
