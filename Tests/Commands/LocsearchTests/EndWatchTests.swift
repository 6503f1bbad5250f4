import Basics
import Console
import CoreMetrics
import Foundation
import JSON
import LocationSearch
import Observability
import Testing

@testable import locsearch

/// How requests and calls ended in the last minute, in `/status`.
struct EndWatchTests {
    private let registry = MetricsRegistry()
    private let start = Instant.now

    private func count(_ code: String, _ number: Int64) {
        let (label, labels) =
            code == "ok"
            ? ("locsearch_requests_completed_total", [("provider", "hotpepper")])
            : ("locsearch_requests_failed_total", [("code", code)])
        registry.makeCounter(label: label, dimensions: labels).increment(by: number)
    }

    private func ends(
        _ watch: EndWatch, of provider: ProviderID? = nil, after seconds: Int
    ) throws -> RecentEnds {
        let json = JSONWriter.object(capacity: 64) { json in
            watch.write(of: provider, to: &json, at: start + .seconds(seconds))
        }
        return try JSONDecoder().decode(RecentEnds.self, from: Data(json))
    }

    @Test func `The ends of the last minute are counted by code`() throws {
        count("timeout", 5)
        let watch = EndWatch(registry, at: start)
        count("ok", 3)
        count("timeout", 2)
        #expect(try ends(watch, after: 4) == RecentEnds(seconds: 4, counts: ["ok": 3, "timeout": 2]))

        for seconds in stride(from: 5, through: 90, by: 5) {
            if seconds == 40 { count("circuit-open", 7) }
            watch.read(at: start + .seconds(seconds))
        }
        #expect(try ends(watch, after: 92) == RecentEnds(seconds: 62, counts: ["circuit-open": 7]))
    }

    @Test func `Calls are counted by provider`() throws {
        let watch = EndWatch(registry, at: start)
        let labels = [("provider", "hotpepper"), ("code", "timeout")]
        let timer = registry.makeTimer(label: "locsearch_provider_call_duration_seconds", dimensions: labels)
        for _ in 0..<4 { timer.recordNanoseconds(4_500_000_000) }
        #expect(try ends(watch, of: .hotpepper, after: 9) == RecentEnds(seconds: 9, counts: ["timeout": 4]))
        #expect(try ends(watch, of: .googlePlaces, after: 9) == RecentEnds(seconds: 9))
    }
}
