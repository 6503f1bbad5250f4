import Foundation
import Kafka
import TestSupport
import Testing

@testable import locsearch

/// Secrets in files are replaced while a worker runs, and it goes on with the new ones.
struct SecretRotationTests {
    private static let (oldKey, newKey) = ("Zq7oldkeyWx", "Zq7newkeyWx")
    private static let (oldToken, newToken) = ("Zq7oldtokenWx0123", "Zq7newtokenWx0123")

    /// A folder with the files of secrets. `remove` deletes it.
    private struct Files {
        let folder: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        func path(_ name: String) -> String { folder.appending(path: name).path }

        /// Replaces a whole file under its name, as editors and deployment tools do.
        func replace(_ name: String, with text: String) throws {
            try (text + "\n").write(toFile: path(name), atomically: true, encoding: .utf8)
        }

        /// Lays a file out as Kubernetes does: `NAME` points to `..data/NAME`, and `..data` to a folder that is replaced as a whole.
        func mount(_ name: String, version: String, text: String) throws {
            let data = folder.appending(path: "..\(version)")
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try text.write(to: data.appending(path: name), atomically: true, encoding: .utf8)

            let link = path("..data_new")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "..\(version)")
            guard unsafe rename(link, path("..data")) == 0 else { throw CocoaError(.fileWriteUnknown) }
            if !FileManager.default.fileExists(atPath: path(name)) {
                try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: "..data/\(name)")
            }
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }
    }

    @Test(.timeLimit(.minutes(2))) func `A worker uses new secrets from the next request on`() async throws {
        let files = try Files()
        defer { files.remove() }
        try files.replace("hotpepper", with: Self.oldKey)
        try files.mount("google", version: "v1", text: Self.oldKey)
        try files.replace("token", with: Self.oldToken)
        // It accepts the new key only.
        let simulator = try RunningProgram(["simulate", "--api-key", Self.newKey])
        // Brokers of newer libraries do not create a topic when a client looks it up.
        let names = ["requests", "results", "errors", "dead-letters"].map { "location-search.\($0)" }
        let broker = try EmbeddedBroker(brokers: 1, topics: Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
        defer { simulator.end() }
        let simulated = try await simulator.address()
        let environment = [
            "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "ADMIN_PORT": "0", "WORKER_SHUTDOWN_GRACE": "0s",
            "HOTPEPPER_API_KEY_FILE": files.path("hotpepper"), "HOTPEPPER_BASE_URL": simulated,
            "GOOGLE_PLACES_API_KEY_FILE": files.path("google"), "GOOGLE_PLACES_BASE_URL": simulated,
            "ADMIN_TOKEN_FILE": files.path("token"), "LOG_LEVEL": "debug",
        ]
        let worker = try RunningProgram(["worker"], environment: environment)
        defer { worker.end() }
        let metrics = try await worker.address() + "/metrics"

        for provider in ["hotpepper", "google-places"] {
            let outcome = try await search(provider, environment)
            #expect(outcome.contains("unauthorized"), "\(outcome)")
        }
        #expect(try await HTTPAnswer(metrics, token: Self.oldToken).status == 200)

        // A file that is empty for a moment has no effect.
        try "".write(toFile: files.path("token"), atomically: false, encoding: .utf8)
        try await eventually("the empty file is told") { worker.error.contains("the previous one stays in use") }
        #expect(try await HTTPAnswer(metrics, token: Self.oldToken).status == 200)

        try files.replace("hotpepper", with: Self.newKey)
        try files.mount("google", version: "v2", text: Self.newKey)
        try files.replace("token", with: Self.newToken)
        for setting in ["hotpepper.apiKeyFile", "googlePlaces.apiKeyFile", "admin.tokenFile"] {
            try await eventually("\(setting) is read anew") {
                worker.error.split(separator: "\n").contains {
                    $0.contains("a secret was reloaded from its file") && $0.contains(setting)
                }
            }
        }

        for provider in ["hotpepper", "google-places"] {
            let outcome = try await search(provider, environment)
            #expect(!outcome.contains("unauthorized") && outcome.contains(provider), "\(outcome)")
        }
        #expect(try await HTTPAnswer(metrics, token: Self.oldToken).status == 401)
        #expect(try await HTTPAnswer(metrics, token: Self.newToken).status == 200)

        let said = worker.output + worker.error
        for secret in [Self.oldKey, Self.newKey, Self.oldToken, Self.newToken] {
            #expect(!said.contains(secret), "the worker shows \(secret)")
        }
    }

    /// Returns the output of a search.
    private func search(_ provider: String, _ environment: [String: String]) async throws -> String {
        let arguments = ["--lat", "35.69", "--lng", "139.7", "--provider", provider, "--timeout", "40s"]
        let program = try await RunningProgram.run(
            ["search"] + arguments,
            environment: environment.filter { $0.key.hasPrefix("KAFKA_") })
        return program.output + program.error
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("localhost", true), ("::1", true), ("127.1.2.3", true), ("0.0.0.0", false), ("::", false),
        ("10.0.0.7", false), ("worker-0", false),
    ])
    func `An address that other machines reach is not local`(host: String, isLocal: Bool) throws {
        let settings = try Settings.load(flags: ["admin.host": host], file: nil, environment: [:])
        #expect(settings.isLocal("admin.host") == isLocal)
    }
}
