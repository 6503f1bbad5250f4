import Foundation
import LocationSearch
import ProviderSimulator
import TestSupport
import Testing

@testable import locsearch

/// The functions of `locsearch demo` while it stays up: faults, periodic requests, a worker to kill.
struct DemoFaultTests {
    /// Active faults, and the resulting answer of Hot Pepper and of Google; `nil`: success.
    private static let meetings: [(on: Set<DemoFault>, hotpepper: String?, google: String?)] = [
        ([], nil, nil), ([.slowProvider], nil, nil), ([.failingProvider, .slowProvider], "503", nil),
        ([.refusedKey], nil, "unauthorized"), ([.usedUpQuota], nil, "rate-limited-day"),
        ([.refusedKey, .usedUpQuota], nil, "unauthorized"), ([.brokerAway, .workerKilled], nil, nil),
    ]

    @Test func `A fault affects only its provider`() {
        for (on, hotpepper, google) in Self.meetings {
            let (atHotpepper, atGoogle) = (DemoFault.hotpepper(under: on), DemoFault.google(under: on))
            #expect(atHotpepper.faults == (hotpepper.map { [$0: 1] } ?? [:]), "\(on)")
            #expect(atGoogle.faults == (google.map { [$0: 1] } ?? [:]), "\(on)")
            #expect((atHotpepper.latency != DemoStack.latency) == on.contains(.slowProvider), "\(on)")
            #expect(atGoogle.latency == DemoStack.latency, "\(on)")
            for spelling in [hotpepper, google].compactMap({ $0 }) { #expect(FaultTable.accepts(spelling)) }
        }
    }

    @Test func `The demo's traffic is varied, with few invalid requests`() {
        var random = SplitMix64(state: 7)
        let requests = (0..<3000).map { _ in SearchRequest.visitors(using: &random) }
        let wrong = requests.count { request in
            (try? request.validated()) == nil
                || request.provider == .named(.hotpepper) && request.category == "hospital"
        }
        #expect((50...160).contains(wrong))
        #expect(Set(requests.map(\.requestID)).count == requests.count)
        #expect(Set(requests.map(\.provider)).count == 3)
        #expect(Set(requests.map(\.category)).count > 4)
        #expect(Set(requests.compactMap(\.keyword)).count > 4)

        let abroad = requests.count { ($0.location?.longitude ?? 0) < 122 }
        #expect((150...600).contains(abroad))
    }

    @Test func `The second worker gets only the demo's settings`() throws {
        let settings = try Settings.load(
            flags: ["kafka.bootstrapServers": "b:1", "googlePlaces.apiKey": DemoState.key, "admin.port": "9999"],
            file: nil, environment: [:])
        let file = try DemoKeyFile(settings)
        defer { file.remove() }
        let own = ["LOCSEARCH_CONFIG": "/x", "WORKER_CONCURRENCY": "7", "HOME": "/home/a"]
        let environment = WorkerChild.environment(settings, keyFile: file, own: own)

        #expect(environment["KAFKA_BOOTSTRAP_SERVERS"] == "b:1")
        #expect(environment["HOME"] == "/home/a")
        #expect(environment["LOCSEARCH_CONFIG"] == nil)
        #expect(environment["WORKER_CONCURRENCY"] == nil)
        #expect(environment["GOOGLE_PLACES_API_KEY"] == nil)
        #expect(environment["GOOGLE_PLACES_API_KEY_FILE"] == file.path)

        let first = try String(contentsOfFile: file.path, encoding: .utf8)
        file.renew()
        let second = try String(contentsOfFile: file.path, encoding: .utf8)
        #expect(first == DemoState.key)
        #expect(second != first)
    }

    @Test func `A user's own key is not replaced`() throws {
        let settings = try Settings.load(flags: ["googlePlaces.apiKey": "theirs"], file: nil, environment: [:])
        let file = try DemoKeyFile(settings)
        defer { file.remove() }
        file.renew()
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "theirs")
    }

    @Test(.timeLimit(.minutes(1))) func `A child process is read and killed`() async throws {
        let child = try ChildProcess(["/bin/sh", "-c", "echo $NAME; exec cat"], environment: ["NAME": "first line"])
        try await eventually("the first line") { child.firstLine == "first line" }
        #expect(child.isRunning)
        child.signal(SIGKILL)
        #expect(await child.hasEnded(within: .seconds(20)))
        child.signal(SIGKILL)
    }

    @Test func `A missing program is an error`() {
        #expect(throws: POSIXError.self) { try ChildProcess(["/nonexistent/program"], environment: [:]) }
    }

    @Test(.timeLimit(.minutes(3)), arguments: [SIGTERM, SIGKILL])
    func `The second worker ends with the demo`(signal: Int32) async throws {
        let demo = try await RunningProgram.demo(["--no-traffic", "--console-port", "0"])
        defer { demo.end() }
        let line = try demo.line("A second worker")
        let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
        #expect(throws: Never.self) { try LoopbackConnection(port: port) }

        demo.signal(signal)
        try await eventually("the demo ends", within: .seconds(60)) { !demo.isRunning }
        #expect(demo.code == (signal == SIGKILL ? 128 + SIGKILL : 0), "\(demo.error)")
        try await eventually("its worker has ended", within: .seconds(20)) {
            (try? LoopbackConnection(port: port)) == nil
        }
    }
}
