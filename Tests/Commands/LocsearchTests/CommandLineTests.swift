import Foundation
import TestSupport
import Testing

@testable import locsearch

/// The program as a process.
struct CommandLineTests {
    @Test(
        arguments: [
            (["config", "--worker-concurrency", "many"], [:], 78, "worker.concurrency is \"many\""),
            (
                ["config", "--worker-concurency", "5"], [:], 78,
                "--worker-concurency is not a setting: did you mean --worker-concurrency?"
            ),
            (
                ["config", "--hotpepper-api-key:Zq7secret"], [:], 78,
                "--hotpepper-api-key… is not a setting: did you mean --hotpepper-api-key?"
            ),
            (["config", "--hotpepper-api-key=", "Zq7secret"], [:], 64, "unknown argument after --hotpepper-api-key:"),
            (["config", "--worker.nothing=5"], [:], 78, "--worker.nothing on the command line is not a setting"),
            (["worker", "--kafka-properties", "no.such.property=1"], [:], 78, "no.such.property"),
            (["worker"], ["ADMIN_PORT": "http"], 78, "admin.port is \"http\""),
            (["worker", "--config", "/nowhere.yaml"], [:], 78, "/nowhere.yaml"),
            (["worker", "--config", "/nowhere\u{1B}[2J.yaml"], [:], 78, "/nowhere [2J.yaml"),
            (
                ["worker"], ["LOCSEARCH_CONFIG": "/nowhere/a.yaml"], 78,
                "the settings file /nowhere/a.yaml cannot be read"
            ),
            (
                ["search", "--lat", "1", "--lng", "1"], ["KAFKA_SECURITY_SASL_USERNAME": "u"], 78,
                "kafka.security.protocol is not set"
            ),
            (["watch"], ["KAFKA_SECURITY_PROTOCOL": "sasl_plaintext"], 78, "kafka.security.sasl.mechanism is not set"),
            (["config", "--json", "--table"], [:], 64, "exclude each other"),
            (["simulate", "--latency", "soon"], [:], 64, "--latency"),
            (["simulate", "--faults", "nonsense:0.5"], [:], 64, "faults"),
            (["simulate", "--faults", "503:nan"], [:], 64, "faults"),
            (["dead-letters", "redrive", "--rate", "nan"], [:], 64, "--rate takes 0.01"),
            (["topics", "create", "--partitions", "9223372036854775807"], [:], 64, "--partitions takes 1 to 10000"),
            (["topics", "create", "--partitions", "0"], [:], 64, "--partitions takes 1 to 10000"),
            (["topics", "create", "--replication-factor", "10"], [:], 64, "--replication-factor takes 1 to 9"),
            (["topics", "create", "--retention", "results"], [:], 64, "--retention results: takes one of requests"),
            (["topics", "create", "--retention", "results=5s"], [:], 64, "a time from 1m"),
            (["topics", "create", "--dry-run", "--print"], [:], 64, "exclude each other"),
            (["explain", "r", "--since", "0s"], [:], 64, "--since takes"),
            (["explain", "r", "--within", "2h"], [:], 64, "--within takes"),
            (["explain", ""], [:], 64, "ID takes"), (["explain", "r", "--newest", "0"], [:], 64, "--newest takes"),
            (["explain", "r", "--tracing-ui-url", "https://u:Zq7secret@x/"], [:], 78, "tracing.uiURL: expected"),
            (["offsets", "reset", "--to", "yesterday"], [:], 64, "--to takes earliest, latest"),
            (["status", "--window", "0s"], [:], 64, "--window takes"),
            (["probe", "ftp://127.0.0.1/"], [:], 64, "URL"), (["probe", "127.0.0.1:8080"], [:], 64, "URL"),
            (["probe", "http://127.0.0.1/", "--timeout", "2m"], [:], 64, "--timeout"),
            (["broker", "--brokers", "0"], [:], 64, "--brokers"), (["search", "--lat", "x"], [:], 64, "--lat"),
            (["broker", "--port", "0"], [:], 64, "--port takes 1 to 65535"),
        ] as [([String], [String: String], Int32, String)])
    func `A mistake ends in one line and the documented exit code`(
        arguments: [String], environment: [String: String], code: Int32, text: String
    ) async throws {
        // No demo is looked up: one that runs in another test would add a line to the output. And a key is set,
        // so that the worker has only one problem.
        let environment = ["XDG_RUNTIME_DIR": "/nowhere", "HOTPEPPER_API_KEY": "k-4711", "ADMIN_PORT": "0"]
            .merging(environment) { $1 }
        let result = try await RunningProgram.run(arguments, environment: environment)
        #expect(result.code == code, "\(result.error)")
        #expect(result.error.contains(text) && !result.error.contains("Zq7"), "\(result.error)")
        if code != 64 { #expect(result.error.split(separator: "\n").count == 1, "\(result.error)") }
    }

    @Test(arguments: [
        (["console", "--console-port", "0"], "the console cannot read from 127.0.0.1:1"),
        (["search", "--lat", "1", "--lng", "1", "--timeout", "2s"], "127.0.0.1:1"),
        (["explain", "r", "--timeout", "2s"], "127.0.0.1:1 (Connection refused)"),
        (["offsets", "show", "--timeout", "2s"], "127.0.0.1:1 (Connection refused)"),
        (["status", "--timeout", "2s"], "127.0.0.1:1 (Connection refused)"),
    ])
    func `A command that reaches no broker ends with one line`(arguments: [String], text: String) async throws {
        let environment = ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "XDG_RUNTIME_DIR": "/nowhere"]
        let program = try await RunningProgram.run(arguments, environment: environment)
        #expect(program.code == 69, "\(program.error)")
        #expect(program.error.contains(text), "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1, "\(program.error)")
    }

    /// mimalloc's exit handler would print its statistics.
    ///
    /// If exit handlers ran, one of libcrypto's would free data that a thread of librdkafka or of an event loop still uses, and a
    /// worker that ended in order would crash.
    @Test(arguments: [["--version"], ["config"], ["config", "--worker-concurrency", "many"]])
    func `The program ends without running exit handlers`(arguments: [String]) async throws {
        let result = try await RunningProgram.run(arguments, environment: ["MIMALLOC_SHOW_STATS": "1"])
        #expect(!result.error.contains("heap stats"))
        #expect(!(result.output + result.error).isEmpty)
    }

    @Test func `The config command shows origins and hides secrets`() async throws {
        let result = try await RunningProgram.run(
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
        let result = try await RunningProgram.run(
            ["config", "--json", "--worker-loops=2", "--config", file],
            environment: [
                "HOTPEPPER_API_KEY": "geheim-1", "KAFKA_GROUP_ID": "g",
                "KAFKA_PROPERTIES": "client.id=me,sasl.password=geheim-2",
            ])
        #expect(result.code == 0)
        #expect(!(result.output + result.error).contains("geheim"))

        let all = try JSONDecoder().decode([ShownSetting].self, from: Data(result.output.utf8))
        let variables = Setting.variablesOnly.map(\.name)
        #expect(all.map(\.name).filter { !variables.contains($0) } == Setting.accepted.map(\.name))
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
        let result = try await RunningProgram.run([command, "--help"])
        #expect(result.code == 0)
        #expect(result.output.contains("locsearch \(command)"))
        #expect(result.output.components(separatedBy: "locsearch \(command)").count > 2, "an example beside the usage")
    }

    @Test(.timeLimit(.minutes(2)), arguments: [1, 3]) func `The demo shows every kind of outcome`(workers: Int)
        async throws
    {
        let record = FileManager.default.temporaryDirectory.appending(path: "outcomes-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: record) }
        let result = try await RunningProgram.run([
            "demo", "--workers", "\(workers)", "--once", "--record", record.path,
        ])
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
