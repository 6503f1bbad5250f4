import Foundation
import TestSupport
import Testing

@testable import locsearch

/// The demo's own requests leave every provider usable, and their cost is counted.
struct DemoQuotaTests {
    @Test(.timeLimit(.minutes(6))) func `The demo leaves every provider usable and counts each call`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let demo = try await RunningProgram.demo(environment: ["XDG_RUNTIME_DIR": folder.path])
        defer { demo.end() }
        #expect(demo.output.contains("quota used up"))
        let state = try #require(DemoState.running(in: folder.appending(path: "locsearch")).first)

        for provider in ["google-places-legacy", "google-places", "hotpepper"] {
            let search = try await RunningProgram.run([
                "search", "--lat", "35.69", "--lng", "139.70", "--provider", provider, "--timeout", "40s",
                "--kafka-bootstrap-servers", state.bootstrapServers,
            ])
            #expect(search.code == 0, "\(provider): \(search.output)\(search.error)")
        }
        try await expectCountedCalls(of: state)
    }

    /// Compares the simulator's count with the workers'.
    ///
    /// The simulator's is read first, because workers count a call before they send it, and the demo goes on making calls.
    private func expectCountedCalls(of state: DemoState) async throws {
        let url = try #require(state.providerURL)
        let apis = try #require(try await HTTPAnswer("\(url)/_sim/stats").object["apis"] as? [String: [String: Any]])

        var counted: [String: Double] = [:]
        for worker in [state.adminURL, state.childURL].compactMap({ $0 }) {
            let metrics = try await HTTPAnswer("\(worker)/metrics").body
            for line in metrics.split(separator: "\n") where line.hasPrefix("locsearch_provider_calls_total{") {
                let parts = line.split(separator: "\"")
                counted[String(parts[1]), default: 0] += Double(parts[2].drop { $0 != " " }.dropFirst()) ?? 0
            }
        }
        for (provider, count) in apis {
            let received = try #require(count["requests"] as? Int)
            #expect(received > 0 && Double(received) <= counted[provider] ?? 0, "\(provider): \(received), \(counted)")
        }
    }
}
