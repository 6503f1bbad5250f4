import Foundation
import Kafka
import Observability
import TestSupport
import Testing

@testable import locsearch

/// Secrets in librdkafka properties and in other settings are never shown.
struct SecretPropertiesTests {
    private static let secret = "Zq7hiddenWx"

    /// The secrets of librdkafka 2.0 to 2.16, names of Java client properties that users may try, and other spellings.
    static let names = [
        "sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "ssl_key",
        "sasl.oauthbearer.config", "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.assertion.private.key.pem", "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.assertion.file", "sasl.oauthbearer.assertion.claim.sub",
        "sasl.oauthbearer.token.endpoint.url", "sasl.kerberos.kinit.cmd", "sasl.jaas.config",
        "ssl.truststore.password", "ssl.keystore.private.key", "schema.registry.basic.auth.credentials",
        "some.api.key", "some.access.key", "SASL.Password", "sasl_password", "some-token",
    ]

    @Test func `The config command shows no secret of a property`() async throws {
        let urls = [
            ("https.proxy.url", "http://user:\(Self.secret)@proxy:3128/a", "http://user:(hidden)@proxy:3128/a"),
            ("some.url", "https://\(Self.secret)@host", "https://(hidden)@host"),
            ("some.urls", "http://a:\(Self.secret)@h,http://b:\(Self.secret)@i", "http://a:(hidden)@i"),
        ]
        let properties = Self.names.map { "\($0)=\(Self.secret)" } + urls.map { "\($0.0)=\($0.1)" }
        let environment = ["KAFKA_PROPERTIES": properties.joined(separator: ",")]
        let table = try await RunningProgram.run(["config"], environment: environment)
        let json = try await RunningProgram.run(["config", "--json"], environment: environment)

        for program in [table, json] {
            #expect(program.code == 0 && program.output.contains("=(hidden)"), "\(program.error)")
            #expect(!(program.output + program.error).contains(Self.secret))
        }
        // The table cuts long values.
        for shown in Self.names.map({ "\($0)=(hidden)" }) + urls.map({ "\($0.0)=\($0.2)" }) {
            #expect(json.output.contains(shown), "\(shown) in \(json.output)")
        }
    }

    @Test(arguments: names) func `A log line does not contain a secret property's value`(name: String) throws {
        // A different value for each name, because the registry of secrets is shared by the process.
        let value = "\(Self.secret)-\(name.hashValue)"
        let settings = try Settings.load(flags: ["kafka.properties": "\(name)=\(value)"], file: nil, environment: [:])

        try ProcessSetup.hideSecrets(of: settings)

        #expect(SecretRegistry.shared.redacted("librdkafka says \(value)") == "librdkafka says ***")
    }

    @Test func `A proxy's password is redacted in both spellings`() throws {
        let settings = try Settings.load(
            flags: ["http.proxy": "http://user:Zq7%40proxy%2FWx@127.0.0.1:1"], file: nil, environment: [:])

        try ProcessSetup.hideSecrets(of: settings)

        #expect(SecretRegistry.shared.redacted("Zq7%40proxy%2FWx or Zq7@proxy/Wx") == "*** or ***")
    }

    // MARK: - Secrets in settings of their own

    @Test(arguments: [
        ("hotpepper.apiKey", "geheim", "(hidden)", ["geheim"]),
        ("http.proxy", "http://user:ge:heim@proxy:3128", "http://user:(hidden)@proxy:3128", ["ge:heim"]),
        ("http.proxy", "socks5://geheim@proxy", "socks5://(hidden)@proxy", ["geheim"]),
        ("http.proxy", "http://user:geheim@proxy", "http://user:(hidden)@proxy", ["geheim"]),
        ("http.proxy", "proxy:3128", "proxy:3128", []), ("http.proxy", "http://proxy:3128/", "http://proxy:3128/", []),
        ("kafka.properties", "sasl.password=ge,heim,debug=a,b", "debug=a,b,sasl.password=(hidden)", ["ge,heim"]),
        ("kafka.properties", "debug=a, b,x=y", "debug=a, b,x=y", []),
    ])
    func `Secrets are hidden within other settings too`(name: String, value: String, shown: String, secrets: [String])
        throws
    {
        let setting = try #require(Setting.byName[name])
        #expect(setting.shown(value) == shown)
        #expect(setting.secrets(in: value) == secrets)
    }

    @Test(arguments: [("key\n", "key"), ("key", "key"), (" key \r\n", "key")])
    func `A key file is read without its line end`(content: String, key: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString)").path
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(
            try Settings.load(flags: ["hotpepper.apiKeyFile": path], file: nil, environment: [:]).hotpepperKey() == key)
    }

    @Test func `A secret that is set twice is reported with both places`() throws {
        let settings = try Settings.load(
            flags: ["hotpepper.apiKeyFile": "/run/key"], file: nil,
            environment: ["HOTPEPPER_API_KEY": "0123456789abcdef"])
        let error = #expect(throws: SettingsError.self) { try settings.hotpepperKey() }
        #expect(
            error?.description
                == "hotpepper.apiKey (HOTPEPPER_API_KEY) and hotpepper.apiKeyFile (command line) are both "
                + "set: use one of them")
    }
}
