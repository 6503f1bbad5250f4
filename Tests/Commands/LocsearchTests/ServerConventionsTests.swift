import Foundation
import Kafka
import TestSupport
import Testing

@testable import locsearch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The rows of `ConventionsTests` about long-running programs: signals, descriptors, HTTP methods, host forms, groups.
struct ServerConventionsTests {
    /// A worker and its environment.
    private struct Server {
        let program: RunningProgram
        let url: String

        /// - Parameter script: for /bin/sh, where $L is the program.
        init(_ script: String, on broker: EmbeddedBroker, environment: [String: String] = [:]) async throws {
            let base = [
                "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "ADMIN_PORT": "0", "CONSOLE_PORT": "0",
                "HOTPEPPER_API_KEY": "any text", "L": RunningProgram.location.path,
                "KAFKA_PROPERTIES": "session.timeout.ms=6000",
            ]
            program = try RunningProgram(["-c", script], environment: base.merging(environment) { $1 }, at: "/bin/sh")
            do {
                url = try await program.address()
            } catch {
                program.end()
                throw error
            }
        }

        func ask(_ path: String, method: String = "GET") async throws -> HTTPAnswer {
            try await HTTPAnswer(url + path, method: method)
        }

        func isReady() async throws -> Bool { try await ask("/readyz").status == 200 }
    }

    private static func broker() throws -> EmbeddedBroker {
        let names = ["requests", "results", "errors", "dead-letters", "fleet"]
        let broker = try EmbeddedBroker(
            topics: Dictionary(uniqueKeysWithValues: names.map { ("location-search.\($0)", 1) }))
        broker.setGroupDelay(.milliseconds(200))
        return broker
    }

    // MARK: - Signals

    struct Signals: Sendable, CustomTestStringConvertible {
        let convention: String
        /// The signals that are ignored when the worker starts, as named by the shell's `trap`.
        var ignored = ""
        let sent: [Int32]
        /// The exit status, or 128 plus the signal; `nil`: the worker goes on.
        let code: Int32?
        var testDescription: String { convention }
    }

    static let signals = [
        Signals(convention: "SIGTERM drains", sent: [SIGTERM], code: 0),
        Signals(convention: "SIGINT drains", sent: [SIGINT], code: 0),
        Signals(convention: "a terminal that closes sends SIGHUP twice", sent: [SIGHUP, SIGHUP], code: 0),
        Signals(convention: "systemd sends SIGHUP right after SIGTERM", sent: [SIGTERM, SIGHUP], code: 0),
        Signals(convention: "nohup has SIGHUP ignored", ignored: "HUP", sent: [SIGHUP], code: nil),
        Signals(
            convention: "a job of a script's background has SIGINT ignored", ignored: "INT", sent: [SIGINT], code: nil),
        Signals(convention: "SIGTERM ends it whatever was ignored", ignored: "TERM HUP INT", sent: [SIGTERM], code: 0),
        Signals(convention: "SIGPIPE is ignored", sent: [SIGPIPE], code: nil),
        Signals(
            convention: "SIGUSR1 has no meaning, and ends it as it ends others", sent: [SIGUSR1], code: 128 + SIGUSR1),
    ]

    @Test(.timeLimit(.minutes(2)), arguments: signals)
    func `A worker handles signals as the convention demands`(row: Signals) async throws {
        let broker = try Self.broker()
        let server = try await Server(
            "trap '' \(row.ignored.isEmpty ? "WINCH" : row.ignored); exec $L worker", on: broker)
        defer { server.program.end() }
        try await eventually("the worker is ready", within: .seconds(60)) { try await server.isReady() }

        for signal in row.sent { server.program.signal(signal) }
        if let code = row.code {
            do {
                try await eventually("the worker ends", within: .seconds(30)) { !server.program.isRunning }
            } catch {
                Issue.record("the worker still runs: \(server.program.error)")
                throw error
            }
            #expect(server.program.code == code, "\(server.program.error)")
            if code == 0 { #expect(server.program.error.contains("worker ends")) }
        } else {
            // A worker that goes on after the signal is ended with SIGTERM.
            for _ in 0..<20 { #expect(try await server.isReady()) }
            try await server.program.terminate()
            #expect(server.program.code == 0)
        }
    }

    /// SIGHUP must not end a worker with calls in flight, which would be repeated and paid for again.
    @Test(.timeLimit(.minutes(2))) func `A search in flight is finished when the terminal closes`() async throws {
        let broker = try Self.broker()
        let provider = try RunningProgram(["simulate", "--latency", "1s"])
        defer { provider.end() }
        let environment = ["HOTPEPPER_BASE_URL": try await provider.address(), "HOTPEPPER_API_KEY": "any-key"]
        let server = try await Server("exec $L worker", on: broker, environment: environment)
        defer { server.program.end() }
        try await eventually("the worker is ready", within: .seconds(60)) { try await server.isReady() }

        let search = try RunningProgram(
            ["search", "--lat", "35.69", "--lng", "139.70", "--provider", "hotpepper", "--json"],
            environment: ["KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers])
        defer { search.end() }
        try await eventually("the request is under way", within: .seconds(30)) {
            try await server.ask("/status").body.contains("\"inFlight\":1")
        }
        server.program.signal(SIGHUP)
        server.program.signal(SIGHUP)
        try await eventually("both end", within: .seconds(30)) { !server.program.isRunning && !search.isRunning }
        #expect(server.program.code == 0)
        #expect(search.code == 0 && search.output.contains("places"), "\(search.error)")
    }

    // MARK: - Descriptors

    #if os(Linux)
        /// A socket must not get the number of a closed standard descriptor, because output would then be written to it.
        @Test(.timeLimit(.minutes(2))) func `No socket takes the number of a closed descriptor`() async throws {
            let broker = try Self.broker()
            let port = try RawServer.unusedPort()
            let worker = try RunningProgram(
                ["-c", "exec $L worker <&- >&- 2>&-"],
                environment: [
                    "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers, "ADMIN_PORT": "\(port)",
                    "HOTPEPPER_API_KEY": "any text", "L": RunningProgram.location.path,
                ], at: "/bin/sh")
            defer { kill(worker.pid, SIGKILL) }
            try await eventually("the worker lives", within: .seconds(60)) {
                (try? await HTTPAnswer("http://127.0.0.1:\(port)/livez")) != nil
            }
            for descriptor in 0...2 {
                let path = "/proc/\(worker.pid)/fd/\(descriptor)"
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "/dev/null")
            }
        }
    #endif

    // MARK: - HTTP methods

    @Test(.timeLimit(.minutes(2)), arguments: ["worker", "console"])
    func `A server handles HTTP methods as the convention demands`(command: String) async throws {
        let broker = try Self.broker()
        let server = try await Server("exec $L \(command)", on: broker)
        defer { server.program.end() }

        for path in command == "worker" ? ["/livez", "/metrics", "/status"] : ["/livez", "/", "/api/config"] {
            let (get, head) = (try await server.ask(path), try await server.ask(path, method: "HEAD"))
            #expect(get.status == 200 && head.status == 200, "\(path)")
            #expect(!get.body.isEmpty && head.body.isEmpty, "\(path)")
            #expect(head.header("Content-Type") == get.header("Content-Type"))
            for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
                let answer = try await server.ask(path, method: method)
                #expect(answer.status == 405 && answer.header("Allow") == "GET, HEAD", "\(method) \(path)")
            }
        }
        #expect(try await server.ask("/nothing", method: "HEAD").status == 404)
        #expect(try await server.ask("/nothing", method: "PUT").status == 404)
        guard command == "console" else { return }
        let answer = try await server.ask("/api/controls/pause")
        #expect(answer.status == 405 && answer.header("Allow") == "POST")
    }

    // MARK: - Hosts

    @Test(
        arguments: [
            ("console.allowedHosts", "Maps.Example., [2001:DB8::7]", "maps.example,2001:db8::7"),
            ("kafka.bootstrapServers", "[::1]:9092,KAFKA.example.:9093", "[::1]:9092,KAFKA.example.:9093"),
            ("kafka.bootstrapServers", "a-b.c_d:65535, 10.0.0.1:9092", "a-b.c_d:65535, 10.0.0.1:9092"),
            ("kafka.bootstrapServers", "[fe80::1%25eth0]:1", "[fe80::1%25eth0]:1"),
            ("kafka.bootstrapServers", "::1:9092", nil), ("console.allowedHosts", "maps.example:443", nil),
            ("hotpepper.baseURL", "HTTP://[::1]:80/a/", "HTTP://[::1]:80/a"),
            ("hotpepper.baseURL", "https://a.b/c//", "https://a.b/c"),
        ] as [(String, String, String?)])
    func `A host is accepted in each of its forms`(setting: String, written: String, taken: String?) {
        let settings = try? Settings.load(flags: [setting: written], file: nil, environment: [:])
        #expect(settings?[setting] == taken)
    }

    @Test(.timeLimit(.minutes(2))) func `A worker prints an IPv6 address in brackets`() async throws {
        let broker = try Self.broker()
        let server = try await Server("exec $L worker --admin-host ::1", on: broker)
        defer { server.program.end() }
        #expect(server.url.hasPrefix("http://[::1]:"))
    }

    // MARK: - Groups

    /// The members of a group use one assignor; a group may be for some users only; and it may be full.
    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ("INCONSISTENT_GROUP_PROTOCOL", "the group's members use another partition.assignment.strategy"),
            ("GROUP_AUTHORIZATION_FAILED", "this user needs Read on the group"),
            ("GROUP_MAX_SIZE_REACHED", "group.max.size"),
        ])
    func `A worker that its group rejects reports why and the cure`(code: String, cure: String) async throws {
        let broker = try Self.broker()
        broker.fail(.joinGroup, with: try #require(EmbeddedBroker.errorCode(named: code)), count: 1000)
        let server = try await Server("exec $L worker", on: broker)
        defer { server.program.end() }

        try await eventually("the probe says why", within: .seconds(60)) {
            let answer = try await server.ask("/readyz")
            return answer.status == 503 && answer.body.contains(cure)
        }
        try await eventually("so does the log") { server.program.error.contains(cure) }

        broker.clearFailures(of: .joinGroup)
        try await eventually("the worker joins", within: .seconds(60)) { try await server.isReady() }
    }
}
