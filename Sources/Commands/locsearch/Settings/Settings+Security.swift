import HTTPServing
import Kafka

/// The TLS and SASL settings, checked before anything connects. librdkafka would start with incomplete settings, and
/// would report errors about properties that the user did not write.
extension Settings {
    /// - Throws: `SettingsError` that names the missing setting, or the two that contradict each other.
    func security() throws(SettingsError) -> KafkaSecurity {
        let facts = SecurityFacts(self)
        try facts.refuseSetTwice()
        try facts.checkLogin()
        try facts.checkTokens()
        try facts.checkEncryption()

        var security = KafkaSecurity()
        security.securityProtocol = self["kafka.security.protocol"]
        security.caFile = self["kafka.security.caFile"]
        security.certificateFile = self["kafka.security.certificateFile"]
        security.keyFile = self["kafka.security.keyFile"]
        security.keyPassword = self["kafka.security.keyPassword"]
        security.saslMechanism = self["kafka.security.sasl.mechanism"]
        security.saslUsername = self["kafka.security.sasl.username"]
        security.saslPassword = try secret("kafka.security.sasl.password", orFile: "kafka.security.sasl.passwordFile")
        security.oidc = try oidc()
        return security
    }
}

extension Settings {
    /// Returns the OIDC configuration; `nil` if it is not used. `SecurityFacts` has already reported missing settings.
    private func oidc() throws(SettingsError) -> KafkaSecurity.OIDC? {
        let secret = try secret("kafka.security.oidc.clientSecret", orFile: "kafka.security.oidc.clientSecretFile")
        guard let tokenURL = self["kafka.security.oidc.tokenURL"], let clientID = self["kafka.security.oidc.clientId"],
            let secret
        else { return nil }

        return KafkaSecurity.OIDC(
            tokenURL: tokenURL, clientID: clientID, clientSecret: secret)
    }

    /// The security protocol in lower case, from the setting or from librdkafka's properties.
    var securityProtocol: String { SecurityFacts(self).securityProtocol }

    /// The login mechanism; `nil` if no login is used.
    var loginMechanism: String? {
        let facts = SecurityFacts(self)
        return facts.logsIn ? facts.mechanism : nil
    }

    /// Returns the token that the admin endpoints require; `nil` if they require none. The file is read again with each
    /// call.
    func adminToken() throws(SettingsError) -> String? { try token("admin.token", orFile: "admin.tokenFile") }

    /// Returns a token that clients of this process must send; `nil` if neither setting is set.
    /// - Throws: `SettingsError` if the token is too short.
    func token(_ name: String, orFile fileSetting: String) throws(SettingsError) -> String? {
        guard let token = try secret(name, orFile: fileSetting) else { return nil }
        guard token.count >= BearerToken.fewestCharacters else {
            let setting = self[fileSetting] == nil ? name : fileSetting
            throw SettingsError(
                "\(setting): the token has \(token.count) characters; at least \(BearerToken.fewestCharacters) are "
                    + "needed, such as those of `openssl rand -hex 16`")
        }
        return token
    }
}

/// The combined TLS and SASL options of the settings and librdkafka's properties.
private struct SecurityFacts {
    private let settings: Settings
    private let properties: [String: String]

    init(_ settings: Settings) {
        self.settings = settings
        properties = settings.properties
    }

    private static let prefix = "kafka.security."

    /// Returns the value of `kafka.security.<name>`.
    private func setting(_ name: String) -> String? { settings[Self.prefix + name] }

    /// Returns true if the setting or one of the properties has a value.
    private func isGiven(_ name: String, orProperties others: [String]) -> Bool {
        setting(name) != nil || others.contains { properties[$0]?.isEmpty == false }
    }

    var securityProtocol: String {
        (properties["security.protocol"] ?? setting("protocol") ?? "plaintext").lowercased()
    }

    var mechanism: String? {
        properties["sasl.mechanism"] ?? properties["sasl.mechanisms"] ?? setting("sasl.mechanism")
    }

    var logsIn: Bool { securityProtocol.hasPrefix("sasl_") }
    private var encrypts: Bool { securityProtocol.hasSuffix("ssl") }

    // MARK: - Checks

    /// Refuses a value that is set both by a setting and by a librdkafka property, because one of them would be
    /// ignored.
    func refuseSetTwice() throws(SettingsError) {
        for (property, name) in KafkaSecurity.settingNames.sorted(by: { $0.key < $1.key }) {
            guard settings[name] != nil, properties[property] != nil else { continue }
            throw SettingsError(
                "\(settings.place(of: name)) and \(property) in \(settings.place(of: "kafka.properties")) are both set: use one of them"
            )
        }
    }

    func checkLogin() throws(SettingsError) {
        guard logsIn else {
            let login = ["sasl.mechanism", "sasl.username", "sasl.password", "sasl.passwordFile"]
            let given = (login + Self.tokenSettings).first { setting($0) != nil }
            guard let given else { return }
            throw missing("protocol", expected: "sasl_ssl or sasl_plaintext", because: "\(Self.prefix)\(given) is set")
        }

        guard let mechanism else {
            throw missing(
                "sasl.mechanism", expected: "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER",
                because: "the protocol is \(securityProtocol)")
        }
        // `checkTokens` checks OAUTHBEARER. GSSAPI is configured by librdkafka properties.
        guard mechanism == "PLAIN" || mechanism.hasPrefix("SCRAM-") else { return }

        let reason = "the mechanism is \(mechanism)"
        guard isGiven("sasl.username", orProperties: ["sasl.username"]) else {
            throw missing("sasl.username", expected: "the user name of the login", because: reason)
        }
        let hasPassword =
            isGiven("sasl.password", orProperties: ["sasl.password"]) || setting("sasl.passwordFile") != nil
        guard hasPassword else {
            throw missing(
                "sasl.password", expected: "the user's password, or its file as sasl.passwordFile", because: reason)
        }
    }

    private static let tokenSettings = [
        "oidc.tokenURL", "oidc.clientId", "oidc.clientSecret", "oidc.clientSecretFile",
    ]

    /// Checks the settings for OAUTHBEARER. If none of them is set, librdkafka properties may configure it instead.
    func checkTokens() throws(SettingsError) {
        let given = Self.tokenSettings.first { setting($0) != nil }
        guard mechanism == "OAUTHBEARER" else {
            guard let given else { return }
            throw missing("sasl.mechanism", expected: "OAUTHBEARER", because: "\(Self.prefix)\(given) is set")
        }

        let isSetUpByProperties = properties.keys.contains { $0.hasPrefix("sasl.oauthbearer.") }
        if given == nil, isSetUpByProperties { return }

        let reason = "the mechanism is OAUTHBEARER"
        if setting("oidc.tokenURL") == nil {
            throw missing("oidc.tokenURL", expected: "the token endpoint of the OpenID provider", because: reason)
        }
        if setting("oidc.clientId") == nil {
            throw missing("oidc.clientId", expected: "client ID at the OpenID provider", because: reason)
        }
        if setting("oidc.clientSecret") == nil, setting("oidc.clientSecretFile") == nil {
            throw missing(
                "oidc.clientSecret", expected: "the client secret, or its file as oidc.clientSecretFile",
                because: reason)
        }
    }

    func checkEncryption() throws(SettingsError) {
        if !encrypts {
            let given = ["caFile", "certificateFile", "keyFile", "keyPassword"].first { setting($0) != nil }
            if let given {
                throw missing("protocol", expected: "ssl or sasl_ssl", because: "\(Self.prefix)\(given) is set")
            }
        }

        let hasCertificate = isGiven(
            "certificateFile",
            orProperties: ["ssl.certificate.location", "ssl.certificate.pem", "ssl.keystore.location"])
        let hasKey = isGiven("keyFile", orProperties: ["ssl.key.location", "ssl.key.pem", "ssl.keystore.location"])

        if setting("certificateFile") != nil, !hasKey {
            throw missing("keyFile", expected: "the file with the certificate's key", because: "certificateFile is set")
        }
        if setting("keyFile") != nil, !hasCertificate {
            throw missing("certificateFile", expected: "the file with the key's certificate", because: "keyFile is set")
        }
        if setting("keyPassword") != nil, !hasKey {
            throw missing("keyFile", expected: "the file with the key of that password", because: "keyPassword is set")
        }
    }

    private func missing(_ name: String, expected: String, because reason: String) -> SettingsError {
        let full = Self.prefix + name
        let state = settings[full].map { "is \"\($0)\"" } ?? "is not set"
        return SettingsError("\(full) \(state), although \(reason): expected \(expected)")
    }
}
