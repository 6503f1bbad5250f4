import Testing

@testable import locsearch

/// Incomplete or contradictory TLS and SASL settings are reported before any connection is made.
struct SecuritySettingsTests {
    private static let login = ["sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "geheim"]

    private func load(_ security: [String: String], properties: String? = nil) throws -> Settings {
        var flags = Dictionary(uniqueKeysWithValues: security.map { ("kafka.security." + $0.key, $0.value) })
        flags["kafka.properties"] = properties
        return try Settings.load(flags: flags, file: nil, environment: [:])
    }

    @Test(arguments: [
        (
            ["protocol": "sasl_ssl"],
            "kafka.security.sasl.mechanism is not set, although the protocol is sasl_ssl: expected PLAIN, SCRAM-SHA-256, "
                + "SCRAM-SHA-512 or OAUTHBEARER"
        ),
        (
            ["sasl.mechanism": "PLAIN"],
            "kafka.security.protocol is not set, although kafka.security.sasl.mechanism is set: expected sasl_ssl or "
                + "sasl_plaintext"
        ),
        (
            ["protocol": "ssl", "sasl.username": "u"],
            "kafka.security.protocol is \"ssl\", although kafka.security.sasl.username is set: expected sasl_ssl or "
                + "sasl_plaintext"
        ),
        (
            ["sasl.passwordFile": "/nowhere"],
            "kafka.security.protocol is not set, although kafka.security.sasl.passwordFile is set: expected sasl_ssl or "
                + "sasl_plaintext"
        ),
        (
            ["protocol": "sasl_ssl", "sasl.mechanism": "SCRAM-SHA-256", "sasl.password": "geheim"],
            "kafka.security.sasl.username is not set, although the mechanism is SCRAM-SHA-256: expected the user name of the login"
        ),
        (
            ["protocol": "sasl_ssl", "sasl.mechanism": "PLAIN", "sasl.username": "u"],
            "kafka.security.sasl.password is not set, although the mechanism is PLAIN: expected the user's password, or its "
                + "file as sasl.passwordFile"
        ),
        (
            ["protocol": "sasl_ssl", "sasl.mechanism": "OAUTHBEARER"],
            "kafka.security.oidc.tokenURL is not set, although the mechanism is OAUTHBEARER: expected the token endpoint of the "
                + "OpenID provider"
        ),
        (
            [
                "protocol": "sasl_ssl", "sasl.mechanism": "OAUTHBEARER", "oidc.tokenURL": "https://id/token",
                "oidc.clientId": "c",
            ],
            "kafka.security.oidc.clientSecret is not set, although the mechanism is OAUTHBEARER: expected the client "
                + "secret, or its file as oidc.clientSecretFile"
        ),
        (
            [
                "protocol": "sasl_ssl", "sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p",
                "oidc.clientId": "c",
            ],
            "kafka.security.sasl.mechanism is \"PLAIN\", although kafka.security.oidc.clientId is set: expected OAUTHBEARER"
        ),
        (
            ["oidc.clientId": "c"],
            "kafka.security.protocol is not set, although kafka.security.oidc.clientId is set: expected sasl_ssl or "
                + "sasl_plaintext"
        ),
        (
            ["caFile": "/etc/hostname"],
            "kafka.security.protocol is not set, although kafka.security.caFile is set: expected ssl or sasl_ssl"
        ),
        (
            ["protocol": "plaintext", "certificateFile": "/etc/hostname", "keyFile": "/etc/hostname"],
            "kafka.security.protocol is \"plaintext\", although kafka.security.certificateFile is set: expected ssl or sasl_ssl"
        ),
        (
            ["protocol": "ssl", "certificateFile": "/etc/hostname"],
            "kafka.security.keyFile is not set, although certificateFile is set: expected the file with the certificate's key"
        ),
        (
            ["protocol": "ssl", "keyFile": "/etc/hostname"],
            "kafka.security.certificateFile is not set, although keyFile is set: expected the file with the key's certificate"
        ),
        (
            ["protocol": "ssl", "keyPassword": "geheim"],
            "kafka.security.keyFile is not set, although keyPassword is set: expected the file with the key of that password"
        ),
    ])
    func `A missing security setting is named`(security: [String: String], expected: String) throws {
        let settings = try load(security)
        let error = #expect(throws: SettingsError.self) { try settings.validate() }
        #expect(error?.description == expected)
        // Every connection needs these, so none is made.
        #expect(throws: SettingsError.self) { try settings.consumer() }
        #expect(throws: SettingsError.self) { try settings.producer() }
    }

    @Test(
        arguments: [
            ("sasl_ssl", Self.login, nil), ("sasl_plaintext", Self.login, nil), (nil, [:], nil), ("ssl", [:], nil),
            ("ssl", ["certificateFile": "/etc/hostname", "keyFile": "/etc/hostname", "keyPassword": "geheim"], nil),
            ("ssl", ["certificateFile": "/etc/hostname"], "ssl.key.pem=geheim"),
            ("sasl_ssl", [:], "sasl.mechanisms=OAUTHBEARER,sasl.oauthbearer.config=geheim"),
            ("sasl_ssl", ["sasl.username": "u"], "sasl.mechanism=PLAIN,sasl.password=geheim"),
            (nil, Self.login, "security.protocol=SASL_SSL"), (nil, [:], "sasl.mechanism=PLAIN,sasl.username=u"),
        ] as [(String?, [String: String], String?)])
    func `Settings that belong together are accepted`(
        protocol name: String?, security: [String: String], properties: String?
    ) throws {
        var security = security
        security["protocol"] = name
        try load(security, properties: properties).validate()
    }

    @Test(arguments: [
        (
            ["protocol": "ssl"], "security.protocol=plaintext",
            "kafka.security.protocol (command line) and security.protocol"
        ),
        (
            ["protocol": "sasl_ssl", "sasl.mechanism": "PLAIN"], "sasl.mechanisms=GSSAPI",
            "kafka.security.sasl.mechanism (command line) and sasl.mechanisms"
        ),
    ])
    func `A property that contradicts a setting is rejected`(
        security: [String: String], properties: String, expected: String
    ) throws {
        let settings = try load(security, properties: properties)
        let error = #expect(throws: SettingsError.self) { try settings.validate() }
        #expect(error?.description == expected + " in kafka.properties (command line) are both set: use one of them")
    }
}
