import Foundation
import Kafka
import Observability
import TestSupport
import Testing

@testable import locsearch

/// librdkafka properties with secrets are never shown: not by `locsearch config`, nor in log lines and errors.
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

    private func output(of arguments: [String], properties: String) async throws -> String {
        let program = try RunningProgram(arguments, environment: ["KAFKA_PROPERTIES": properties])
        defer { program.end() }
        try await eventually("the program ends", within: .seconds(60)) { !program.isRunning }
        #expect(program.code == 0, "\(program.error)")
        return program.output + program.error
    }

    @Test(arguments: names) func `The name of a secret property is shown, and its value is not`(name: String)
        async throws
    {
        let properties = "\(name)=\(Self.secret)"
        for arguments in [["config"], ["config", "--json"]] {
            let output = try await output(of: arguments, properties: properties)
            #expect(output.contains("\(name)=(hidden)"), "\(arguments): \(output)")
            #expect(!output.contains(Self.secret), "\(arguments)")
        }
    }

    @Test(arguments: [
        ("https.proxy.url", "http://user:\(secret)@proxy:3128/a", "http://user:(hidden)@proxy:3128/a"),
        ("some.url", "https://\(secret)@host", "https://(hidden)@host"),
        ("some.urls", "http://a:\(secret)@h,http://b:\(secret)@i", "http://a:(hidden)@i"),
    ])
    func `A URL is shown without its password`(name: String, value: String, shown: String) async throws {
        for arguments in [["config"], ["config", "--json"]] {
            let output = try await output(of: arguments, properties: "\(name)=\(value)")
            #expect(output.contains("\(name)=\(shown)"), "\(arguments): \(output)")
            #expect(!output.contains(Self.secret), "\(arguments)")
        }
    }

    @Test(arguments: names) func `A log line does not contain a secret property's value`(name: String) throws {
        // A different value for each name, because the registry of secrets is shared by the process.
        let value = "\(Self.secret)-\(name.hashValue)"
        let settings = try Settings.load(
            flags: ["kafka.properties": "\(name)=\(value)"], file: nil, environment: [:])

        try ProcessSetup.hideSecrets(of: settings)

        #expect(SecretRegistry.shared.redacted("librdkafka says \(value)") == "librdkafka says ***")
    }

    @Test func `A proxy's password is redacted in both spellings`() throws {
        let settings = try Settings.load(
            flags: ["http.proxy": "http://user:Zq7%40proxy%2FWx@127.0.0.1:1"], file: nil, environment: [:])

        try ProcessSetup.hideSecrets(of: settings)

        #expect(SecretRegistry.shared.redacted("Zq7%40proxy%2FWx or Zq7@proxy/Wx") == "*** or ***")
    }

    @Test(arguments: [
        ("kafka.bootstrapServers", "SASL_SSL://user:\(secret)@host:9093"),
        ("hotpepper.baseURL", "ftp://user:\(secret)@host"), ("kafka.properties", "sasl.token=\(secret),=x"),
        ("http.proxy", "http://user:\(secret)@a b"), ("topics.requests", "user:\(secret)@host"),
    ])
    func `An invalid value that may hold a secret is not shown`(name: String, value: String) {
        let error = #expect(throws: SettingsError.self) {
            try Settings.load(flags: [name: value], file: nil, environment: [:])
        }
        #expect(error?.description.hasPrefix("\(name) is not valid") == true, "\(error?.description ?? "")")
        #expect(error?.description.contains(Self.secret) == false)
    }
}
