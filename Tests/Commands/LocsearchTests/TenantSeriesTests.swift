import Basics
import Observability
import ProviderCalls
import Resilience
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// The selection of tenants with a series in `/metrics`. Producers choose the tenants' names.
struct TenantSeriesTests {
    private static let start = Instant.now

    private static func flows(_ names: [String], waiting count: Int = 2) -> [LaneStatus.WaitingFlow] {
        names.map { LaneStatus.WaitingFlow(flow: Flow(.interactive, tenant: $0), count: count, longest: .zero) }
    }

    private static func names(_ counts: [Flow: Int]) -> Set<String> { Set(counts.keys.map(\.tenant)) }

    @Test func `Tenants beyond the first ten are summed`() {
        let counts = TenantSeries().counts(of: Self.flows((0..<500).map { "t\($0)" }), at: Self.start)
        #expect(Self.names(counts) == Set((0..<10).map { "t\($0)" } + ["other"]))
        #expect(counts[Flow(.interactive, tenant: "other")] == 980)
        #expect(counts[Flow(.interactive, tenant: "t0")] == 2)
    }

    /// A producer uses a new tenant with each request for a day; `/metrics` is read every 15 s.
    @Test func `The series of a day are bounded, whatever producers write`() {
        let series = TenantSeries()
        var seen: Set<String> = []
        for read in 0..<5760 {
            let now = Self.start + .seconds(15 * read)
            let counts = series.counts(of: Self.flows((0..<20).map { "\(read)-\($0)" }), at: now)
            #expect(counts.count <= 11)
            #expect(counts.values.reduce(0, +) == 40)
            seen.formUnion(Self.names(counts))
        }
        #expect(seen.count <= 1 + 10 * 4 * 24, "ten names for each idle time: \(seen.count)")
    }

    @Test func `A tenant keeps its series until it is idle`() {
        let series = TenantSeries()
        _ = series.counts(of: Self.flows((0..<10).map { "t\($0)" }), at: Self.start)
        for minute in stride(from: 10, through: 60, by: 10) {
            let counts = series.counts(of: Self.flows(["new", "t3"]), at: Self.start + .seconds(60 * minute))
            #expect(Self.names(counts).contains("t3"))
            #expect(Self.names(counts).contains(minute < 20 ? "other" : "new"))
        }
    }

    /// Prometheus would reject the whole answer if two series had equal labels.
    @Test func `Tenants with long names or named other are summed`() {
        let long = String(repeating: "x", count: 5000)
        let names = ["other", long, long + "y"] + (0..<20).map { "t\($0)" } + ["", "another"]
        let counts = TenantSeries().counts(of: Self.flows(names), at: Self.start)
        #expect(counts[Flow(.interactive, tenant: String(long.prefix(128)))] == 4)
        #expect(counts[Flow(.interactive, tenant: "other")] == 2 + 2 * 13)
        #expect(!Self.names(counts).contains(""))
    }
}
