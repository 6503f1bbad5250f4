import CoreMetrics
import Testing

@testable import Observability

struct MetricsRegistryTests {
    @Test func theSameSeriesIsCountedOnce() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "a_total", dimensions: [("x", "1")]).increment(by: 2)
        registry.makeCounter(label: "a_total", dimensions: [("x", "1")]).increment(by: 3)
        registry.makeCounter(label: "a_total", dimensions: [("x", "2")]).increment(by: 7)
        #expect(
            registry.prometheusText == """
                # TYPE a_total counter
                a_total{x="1"} 5
                a_total{x="2"} 7

                """)
    }

    @Test func knownMetricsAreExplained() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "locsearch_requests_taken_total", dimensions: []).increment(by: 1)
        let lines = registry.prometheusText.split(separator: "\n")
        #expect(lines.first == "# HELP locsearch_requests_taken_total Records taken from the requests topic.")
        #expect(
            lines.dropFirst() == ["# TYPE locsearch_requests_taken_total counter", "locsearch_requests_taken_total 1"])
    }

    @Test func labelsAreEscaped() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "a_total", dimensions: [("x", "q\"b\\n\n")]).increment(by: 1)
        #expect(registry.prometheusText.contains(#"a_total{x="q\"b\\n\n"} 1"#))
    }

    @Test func gaugesGoUpAndDown() {
        let gauge = GaugeSeries()
        gauge.set(10.0)
        gauge.increment(by: 2.5)
        gauge.decrement(by: 5)
        #expect(gauge.value == 7.5)
    }

    @Test(arguments: [
        (5.0, "5"), (-3, "-3"), (0.25, "0.25"), (1e20, "1e+20"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
        (.nan, "NaN"),
    ])
    func numbersAreSpeltAsPrometheusReadsThem(value: Double, expected: String) {
        #expect(PrometheusText.number(value) == expected)
    }

    @Test func bucketsAddUp() {
        let registry = MetricsRegistry()
        let timer = registry.makeTimer(label: "t_seconds", dimensions: [("p", "q")])
        for milliseconds: Int64 in [5, 6, 80, 20_000] { timer.recordNanoseconds(milliseconds * 1_000_000) }
        let text = registry.prometheusText
        #expect(text.contains("t_seconds_bucket{p=\"q\",le=\"0.005\"} 1\n"))
        #expect(text.contains("t_seconds_bucket{p=\"q\",le=\"0.01\"} 2\n"))
        #expect(text.contains("t_seconds_bucket{p=\"q\",le=\"0.1\"} 3\n"))
        #expect(text.contains("t_seconds_bucket{p=\"q\",le=\"+Inf\"} 4\n"))
        #expect(text.contains("t_seconds_count{p=\"q\"} 4\n"))
        #expect(text.contains("t_seconds_sum{p=\"q\"} 20.091\n"))
    }

    @Test func nothingIsLostBetweenThreads() async {
        let (counter, gauge) = (CounterSeries(), GaugeSeries())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.increment(by: 1)
                        gauge.increment(by: 1)
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(gauge.value == 80_000)
    }

    #if os(Linux)
        @Test func theProcessShowsItsMemory() throws {
            let line = try #require(
                ProcessMetrics.prometheusText.split(separator: "\n").first {
                    $0.hasPrefix("process_resident_memory_bytes ")
                })
            let bytes = try #require(Double(line.split(separator: " ")[1]))
            #expect(bytes > 1_000_000 && bytes < 10_000_000_000)
        }
    #endif
}
