import Foundation
import TestSupport
import Testing

@testable import locsearch

/// `locsearch doctor` as a process.
struct DoctorCommandTests {
    private var nowhere: [String: String] {
        get throws {
            ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(try RawServer.unusedPort())", "ADMIN_PORT": "0"]
        }
    }

    @Test func `The exit code is that of the first failure`() async throws {
        let environment = try nowhere
        let unreachable = try await RunningProgram.run(
            ["doctor", "--offline", "--hotpepper-api-key", "k-4711"], environment: environment)
        #expect(unreachable.code == 69, "\(unreachable.output)\(unreachable.error)")
        let wrong = try await RunningProgram.run(["doctor", "--offline"], environment: environment)
        #expect(wrong.code == 78, "\(wrong.output)\(wrong.error)")
        let usage = try await RunningProgram.run(["doctor", "--offline", "--yes"], environment: environment)
        #expect(usage.code == 64, "\(usage.output)\(usage.error)")
    }

    @Test func `Each finding is a line of text and an object of the JSON`() async throws {
        let environment = try nowhere
        let text = try await RunningProgram.run(
            ["doctor", "--offline", "--worker-deadline", "5"], environment: environment)
        let lines = text.output.split(separator: "\n")
        let names = Set(DoctorChecks.all.map { type(of: $0).name })
        #expect(
            Set(lines.dropLast().compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }) == names)
        #expect(lines.contains { $0.hasPrefix("FAILED  settings    worker.deadline is \"5\"") }, "\(text.output)")
        #expect(lines.last?.contains(" failed, ") == true)
        #expect(text.error.isEmpty, "\(text.error)")

        let json = try await RunningProgram.run(
            ["doctor", "--offline", "--worker-deadline", "5", "--json"], environment: environment)
        let object = try json.json()
        #expect(object["exitCode"] as? Int == 78 && json.code == 78)
        let checks = try #require(object["checks"] as? [[String: Any]])
        #expect(checks.count == lines.count - 1)
        #expect(checks.allSatisfy { $0["state"] is String && $0["text"] is String })
    }

    @Test(
        .enabled(if: RunningProgram.hasTerminal),
        arguments: [("n", [], false), ("y", [], true), ("n", ["--yes"], true)] as [(String, [String], Bool)])
    func `The doctor asks before it tries a key`(answer: String, arguments: [String], isTried: Bool) async throws {
        let server = try LoopbackHTTPServer { _ in .init(body: "{}") }
        let environment = try nowhere.merging(
            ["HOTPEPPER_API_KEY": "k-4711", "HOTPEPPER_BASE_URL": server.baseURL]) { $1 }
        let program = try await RunningProgram.run(
            ["doctor"] + arguments, atTerminalWith: "\(answer)\\n", environment: environment)

        #expect(program.output.contains("hotpepper: a search for one shop by its id") == arguments.isEmpty)
        #expect(program.output.contains("Make them? [y/N]") == arguments.isEmpty, "\(program.output)")
        #expect(server.targets.contains { $0.contains("key=k-4711") } == isTried, "\(server.targets)")
    }

    /// Every secret, in its own setting, in a file, and in a wrong place; once with valid other settings, once with invalid ones.
    @Test(arguments: [[], ["--worker-deadline", "5", "--kafka-group-protocol", "consumer"]] as [[String]])
    func `The doctor shows no secret`(wrong: [String]) async throws {
        let server = try LoopbackHTTPServer { target in .init(status: 403, body: "you said \(target)") }
        let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "key")
        try "Zq7keyfile".write(to: file, atomically: true, encoding: .utf8)

        let environment = try nowhere.merging([
            "HOTPEPPER_API_KEY": "Zq7hotpepper", "GOOGLE_PLACES_API_KEY_FILE": file.path,
            "HOTPEPPER_BASE_URL": server.baseURL, "GOOGLE_PLACES_BASE_URL": server.baseURL,
            "GOOGLE_PLACES_LEGACY_BASE_URL": server.baseURL,
            "KAFKA_SECURITY_PROTOCOL": "sasl_ssl", "KAFKA_SECURITY_SASL_MECHANISM": "PLAIN",
            "KAFKA_SECURITY_SASL_USERNAME": "ann", "KAFKA_SECURITY_SASL_PASSWORD": "Zq7password",
            "KAFKA_PROPERTIES": "ssl.keystore.password=Zq7keystore,nonsense=1",
            "ADMIN_TOKEN": "Zq7admintoken-0123456789",
            "TRACING_HEADERS": "authorization=Zq7header", "HTTP_PROXY": "http://user:Zq7proxy@127.0.0.1:1",
        ]) { $1 }
        for more in [[], ["--json"]] {
            let program = try await RunningProgram.run(["doctor", "--yes"] + more + wrong, environment: environment)
            #expect(program.code != 0)
            #expect(!(program.output + program.error).contains("Zq7"), "\(program.output)\(program.error)")
        }
        let worker = try await RunningProgram.run(["worker"] + wrong, environment: environment)
        #expect(worker.code == 78 && !worker.error.contains("Zq7"), "\(worker.error)")
    }

    @Test func `A worker that cannot start names every reason`() async throws {
        let taken = try RawServer { $0.waitForClose() }
        defer { taken.stop() }
        let worker = try await RunningProgram.run(
            ["worker", "--worker-loops", "8", "--worker-concurrency", "4", "--kafka-properties", "nonsense=1"],
            environment: ["ADMIN_PORT": "\(taken.port)", "HTTP_CA_FILE": "/nowhere.pem"])

        #expect(worker.code == 78)
        let lines = worker.error.split(separator: "\n")
        #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("locsearch: ") }, "\(worker.error)")
        for text in [
            "worker.loops is 8", "no provider has an API key", "http.caFile: /nowhere.pem", "nonsense is not accepted",
            "admin.port: cannot listen on 127.0.0.1:\(taken.port)",
        ] {
            #expect(lines.contains { $0.contains(text) }, "\(text) in \(worker.error)")
        }
    }
}
