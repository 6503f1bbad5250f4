import Foundation
import TestSupport
import Testing

@testable import locsearch

/// The program as a process.
struct CommandLineTests {
    private struct Result {
        let code: Int32
        let output: String
        let error: String
    }

    private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        let program = try RunningProgram(arguments, environment: environment)
        defer { program.end() }
        try await eventually("the program ends", within: .seconds(60)) { !program.isRunning }
        return Result(code: try #require(program.code), output: program.output, error: program.error)
    }

    @Test(
        arguments: [
            (["config", "--worker-concurrency", "many"], [:], 78, "worker.concurrency is \"many\""),
            (
                ["config", "--worker-concurency", "5"], [:], 78,
                "--worker-concurency is not a setting: did you mean --worker-concurrency?"
            ),
            (["config", "--worker.nothing=5"], [:], 78, "--worker.nothing on the command line is not a setting"),
            (["worker", "--kafka-properties", "no.such.property=1"], [:], 78, "no.such.property"),
            (["worker", "--kafka-properties", "enable.auto.commit=true"], [:], 78, "enable.auto.commit"),
            (["worker", "--worker-delivery", "at-most-once"], [:], 78, "worker.delivery"),
            (["worker", "--worker-concurrency", "0"], [:], 78, "worker.concurrency is \"0\""),
            (["worker", "--worker-deadline", "61s"], [:], 78, "worker.deadline is \"61s\""),
            (["worker", "--worker-loops", "8", "--worker-concurrency", "4"], [:], 78, "worker.loops is 8"),
            (["worker", "--worker-concurency=5"], [:], 78, "did you mean --worker-concurrency?"),
            (["worker"], ["ADMIN_PORT": "http"], 78, "admin.port is \"http\""),
            (["worker", "--config", "/nowhere.yaml"], [:], 78, "/nowhere.yaml"),
            (
                ["worker"], ["KAFKA_BOOTSTRAP_SERVERS": ""], 78,
                "kafka.bootstrapServers is empty (KAFKA_BOOTSTRAP_SERVERS)"
            ),
            (["worker", "--kafka-bootstrap-servers="], [:], 78, "kafka.bootstrapServers is empty (command line)"),
            (["worker", "--kafka-bootstrap-servers", "broker"], [:], 78, "expected host:port"),
            (["worker"], ["KAFKA_SECURITY_PROTOCOL": "sasl_ssl"], 78, "kafka.security.sasl.mechanism is not set"),
            (["worker"], ["KAFKA_SECURITY_SASL_MECHANISM": "PLAIN"], 78, "kafka.security.protocol is not set"),
            (
                ["search", "--lat", "1", "--lng", "1"], ["KAFKA_SECURITY_SASL_USERNAME": "u"], 78,
                "kafka.security.protocol is not set"
            ),
            (["watch"], ["KAFKA_SECURITY_PROTOCOL": "sasl_plaintext"], 78, "kafka.security.sasl.mechanism is not set"),
            (["config", "--json", "--table"], [:], 64, "exclude each other"),
            (
                ["search", "--lat", "1", "--lng", "1", "--timeout", "1s", "--kafka-bootstrap-servers", "127.0.0.1:1"],
                [:], 69, "127.0.0.1:1"
            ),
            (["search", "--lat", "1"], [:], 64, "--lat and --lng"), (["search", "--lat", "x"], [:], 64, "--lat"),
            (["watch", "--nonsense"], [:], 64, "--nonsense"), (["nonsense"], [:], 64, "nonsense"),
            (["simulate", "--latency", "soon"], [:], 64, "--latency"),
            (["simulate", "--faults", "nonsense:0.5"], [:], 64, "faults"),
            (["simulate", "--faults", "503:nan"], [:], 64, "faults"),
            (["worker", "--worker-concurrency", "9223372036854775807"], [:], 78, "an integer from 1 to 65536"),
            (["worker", "--worker-deadline", "9999999999999h"], [:], 78, "a duration from 1ms to 1m"),
            (["worker", "--providers-hotpepper-requests-per-second", "nan"], [:], 78, "a number from 0.001"),
            (["dead-letters", "redrive", "--rate", "nan"], [:], 64, "--rate takes 0.01"),
            (["topics", "create", "--partitions", "9223372036854775807"], [:], 64, "--partitions takes 1 to 10000"),
            (["broker", "--brokers", "0"], [:], 64, "--brokers"),
        ] as [([String], [String: String], Int32, String)])
    func `A mistake ends in one line and the documented exit code`(
        arguments: [String], environment: [String: String], code: Int32, text: String
    ) async throws {
        // No demo is looked up: one that runs in another test would add a line to the output. And a key is set,
        // so that the worker has only one problem.
        let environment = ["XDG_RUNTIME_DIR": "/nowhere", "HOTPEPPER_API_KEY": "k-4711", "ADMIN_PORT": "0"]
            .merging(environment) { $1 }
        let result = try await run(arguments, environment: environment)
        #expect(result.code == code, "\(result.error)")
        #expect(result.error.contains(text), "\(result.error)")
        if code != 64 { #expect(result.error.split(separator: "\n").count == 1, "\(result.error)") }
    }

    /// mimalloc's exit handler would print its statistics.
    ///
    /// If exit handlers ran, one of libcrypto's would free data that a thread of librdkafka or of an event loop still uses, and a
    /// worker that ended in order would crash.
    @Test(arguments: [["--version"], ["config"], ["config", "--worker-concurrency", "many"]])
    func `The program ends without running exit handlers`(arguments: [String]) async throws {
        let result = try await run(arguments, environment: ["MIMALLOC_SHOW_STATS": "1"])
        #expect(!result.error.contains("heap stats"))
        #expect(!(result.output + result.error).isEmpty)
    }

    @Test func `The config command shows origins and hides secrets`() async throws {
        let result = try await run(
            ["config", "--worker-loops=2"], environment: ["HOTPEPPER_API_KEY": "geheim-1", "KAFKA_GROUP_ID": "g"])
        #expect(result.code == 0)
        let lines = result.output.split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true)
        }
        #expect(lines.contains(["worker.loops", "2", "command", "line"]))
        #expect(lines.contains(["kafka.groupId", "g", "KAFKA_GROUP_ID"]))
        #expect(lines.contains(["hotpepper.apiKey", "(hidden)", "HOTPEPPER_API_KEY"]))
        #expect(lines.contains(["worker.concurrency", "256", "default"]))
        #expect(!result.output.contains("geheim"))
    }

    /// An element of the output of `config --json`.
    private struct ShownSetting: Decodable, Equatable {
        var name: String
        var environment: String
        var value: String?
        var hidden: Bool?
        var source: String
        var variable: String?
        var file: String?
        var line: Int?
    }

    @Test func `The config command names each setting's source in its JSON`() async throws {
        let file = try SettingsFolder.write("topics:\n  results: r\n", as: "a.yaml")
        defer { SettingsFolder.remove(file) }
        let result = try await run(
            ["config", "--json", "--worker-loops=2", "--config", file],
            environment: [
                "HOTPEPPER_API_KEY": "geheim-1", "KAFKA_GROUP_ID": "g",
                "KAFKA_PROPERTIES": "client.id=me,sasl.password=geheim-2",
            ])
        #expect(result.code == 0)
        #expect(!(result.output + result.error).contains("geheim"))

        let all = try JSONDecoder().decode([ShownSetting].self, from: Data(result.output.utf8))
        // The proxy for https has no setting, and is shown where the machine has one.
        #expect(all.map(\.name).filter { $0 != "HTTPS_PROXY" } == Setting.accepted.map(\.name))
        let expected = [
            ShownSetting(name: "worker.loops", environment: "WORKER_LOOPS", value: "2", source: "command-line"),
            ShownSetting(
                name: "kafka.groupId", environment: "KAFKA_GROUP_ID", value: "g", source: "environment",
                variable: "KAFKA_GROUP_ID"),
            ShownSetting(
                name: "topics.results", environment: "TOPICS_RESULTS", value: "r", source: "file", file: file, line: 2),
            ShownSetting(
                name: "worker.concurrency", environment: "WORKER_CONCURRENCY", value: "256", source: "default"),
            ShownSetting(name: "http.proxy", environment: "HTTP_PROXY", source: "default"),
            ShownSetting(
                name: "hotpepper.apiKey", environment: "HOTPEPPER_API_KEY", hidden: true, source: "environment",
                variable: "HOTPEPPER_API_KEY"),
            ShownSetting(
                name: "kafka.properties", environment: "KAFKA_PROPERTIES", value: "client.id=me,sasl.password=(hidden)",
                hidden: true, source: "environment", variable: "KAFKA_PROPERTIES"),
        ]
        for setting in expected { #expect(all.contains(setting), "\(setting)") }
    }

    @Test(arguments: ["worker", "demo", "search", "watch", "broker", "simulate", "config"])
    func `Every command's help has examples`(command: String) async throws {
        let result = try await run([command, "--help"])
        #expect(result.code == 0)
        #expect(result.output.contains("locsearch \(command)"))
        #expect(result.output.components(separatedBy: "locsearch \(command)").count > 2, "an example beside the usage")
    }

    /// The whole demo: broker, provider, worker, search, outcomes.
    @Test(.timeLimit(.minutes(2)), arguments: [1, 3]) func `The demo shows every kind of outcome`(workers: Int)
        async throws
    {
        let record = FileManager.default.temporaryDirectory.appending(path: "outcomes-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: record) }
        let result = try await run(["demo", "--workers", "\(workers)", "--once", "--record", record.path])
        #expect(result.code == 0, "\(result.error)")
        for text in [
            "places", "nothing found", "invalid-request (location.latitude)", "timeout", "rate-limited", "unauthorized",
            "bad-response", "a picture", "hotpepper", "google-places", "google-places-legacy", "Without --once",
        ] {
            #expect(result.output.contains(text), "\(text) in\n\(result.output)")
        }
        #expect(!result.output.contains("no outcome"))
        #expect(!result.output.contains("circuit-open"), "one request's fault is no other's")
        let lines = try String(contentsOf: record, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 16)
        for line in lines {
            let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(event["topic"] is String)
            #expect((event["headers"] as? [Any])?.isEmpty == false)
        }
    }
}
