import CoreMetrics
import Foundation
import Testing

@testable import Observability

struct MetricsRegistryTests {
    @Test func `The same series is counted once`() {
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

    @Test func `Known metrics are explained`() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "locsearch_requests_taken_total", dimensions: []).increment(by: 1)
        let lines = registry.prometheusText.split(separator: "\n")
        #expect(lines.first == "# HELP locsearch_requests_taken_total Records taken from the requests topic.")
        #expect(
            lines.dropFirst() == ["# TYPE locsearch_requests_taken_total counter", "locsearch_requests_taken_total 1"])
    }

    @Test func `Labels are escaped`() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "a_total", dimensions: [("x", "q\"b\\n\n")]).increment(by: 1)
        #expect(registry.prometheusText.contains(#"a_total{x="q\"b\\n\n"} 1"#))

        // One character in Swift, but the format requires an escape for its second half.
        registry.makeCounter(label: "b_total", dimensions: [("x", "1\r\n2"), ("y", "")]).increment(by: 1)
        #expect(registry.prometheusText.contains("b_total{x=\"1\r\\n2\",y=\"\"} 1"))
    }

    @Test func `Gauges go up and down`() {
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
    func `Numbers are written as Prometheus reads them`(value: Double, expected: String) {
        #expect(PrometheusText.number(value) == expected)
    }

    @Test func `Buckets add up`() {
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

    @Test func `OpenMetrics shows the newest exemplar of a bucket, and the older format shows none`() {
        let registry = MetricsRegistry()
        registry.makeCounter(label: "locsearch_requests_taken_total", dimensions: []).increment(by: 1)
        registry.makeTimer(label: "t_seconds", dimensions: [("p", "q")]).recordNanoseconds(80_000_000)
        func keep(_ duration: Duration, _ id: Character, label: String = "t_seconds") {
            let trace = String(repeating: id, count: 32)
            let exemplar = Exemplar(duration, traceID: trace, time: 1_700_000_000_500_000_000)
            registry.keep(exemplar, of: label, dimensions: [("p", "q")])
        }
        keep(.milliseconds(90), "a")
        keep(.milliseconds(80), "b")
        keep(.seconds(3600), "c")
        keep(.seconds(1), "d", label: "unknown_seconds")

        let classic = registry.prometheusText
        #expect(classic.contains("t_seconds_bucket{p=\"q\",le=\"0.1\"} 1\n") && !classic.contains("trace_id"))
        let text = PrometheusText.openMetrics(registry.text(withExemplars: true))
        let (b, c) = (String(repeating: "b", count: 32), String(repeating: "c", count: 32))
        #expect(text.contains("t_seconds_bucket{p=\"q\",le=\"0.1\"} 1 # {trace_id=\"\(b)\"} 0.08 1700000000.5\n"))
        #expect(text.contains("le=\"+Inf\"} 1 # {trace_id=\"\(c)\"} 3600.0 1700000000.5\n"))
        #expect(text.split(separator: "\n").count { $0.contains("trace_id") } == 2)
        #expect(text.contains("# HELP locsearch_requests_taken Records taken from the requests topic.\n"))
        #expect(text.contains("# TYPE locsearch_requests_taken counter\nlocsearch_requests_taken_total 1\n"))
        #expect(text.hasSuffix("\n# EOF\n"))
    }

    @Test func `Buckets of a metric are those of its description`() throws {
        let registry = MetricsRegistry()
        registry.makeTimer(label: "locsearch_upstream_duration_seconds", dimensions: []).recordNanoseconds(1)
        let bounds = try #require(MetricDescription.named("locsearch_upstream_duration_seconds")?.bounds)

        let buckets = registry.prometheusText.split(separator: "\n").filter { $0.contains("_bucket") }
        #expect(buckets.count == bounds.count + 1)
        for (bucket, bound) in zip(buckets, bounds) { #expect(bucket.contains("le=\"\(bound)\"")) }
    }

    @Test func `Nothing is lost between threads`() async {
        let (counter, gauge, histogram) = (CounterSeries(), GaugeSeries(), HistogramSeries(bounds: [0.5, 2]))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.increment(by: 1)
                        gauge.increment(by: 1)
                        histogram.recordNanoseconds(1_000_000_000)
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(gauge.value == 80_000)
        let lines = histogram.text(SeriesName(label: "t", dimensions: ""), withExemplars: false).split(separator: "\n")
        #expect(
            lines == [
                #"t_bucket{le="0.5"} 0"#, #"t_bucket{le="2.0"} 80000"#, #"t_bucket{le="+Inf"} 80000"#, "t_sum 80000",
                "t_count 80000",
            ])
    }

    @Test func `Descriptions follow the rules of names`() {
        #expect(Set(MetricDescription.all.map(\.name)).count == MetricDescription.all.count)
        for metric in MetricDescription.all {
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.bounds.isEmpty == (metric.kind != .histogram), "\(metric.name)")
            #expect(metric.bounds == metric.bounds.sorted(), "\(metric.name)")
            #expect(metric.bounds.count < HistogramSeries.mostBuckets, "\(metric.name)")
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"), "\(metric.name)")
        }
    }

    #if os(Linux)
        private static func processFigure(_ name: String) throws -> Double {
            let line = try #require(
                ProcessMetrics.prometheusText.split(separator: "\n").first { $0.hasPrefix(name + " ") })
            return try #require(Double(line.split(separator: " ")[1]))
        }

        @Test func `The process shows its memory`() throws {
            let bytes = try Self.processFigure("process_resident_memory_bytes")
            #expect(bytes > 1_000_000 && bytes < 10_000_000_000)
        }

        @Test func `The process shows when it began`() throws {
            let (start, now) = (try Self.processFigure("process_start_time_seconds"), Date().timeIntervalSince1970)
            // The system's start is in whole seconds, and the process's in hundredths.
            #expect(start < now + 2 && start > now - 86_400)
        }

        @Test func `The process counts the files that it opens`() throws {
            let before = try Self.processFigure("process_open_fds")
            let files = try (0..<50).map { _ in try FileHandle(forReadingFrom: URL(filePath: "/dev/null")) }
            let after = try Self.processFigure("process_open_fds")

            // Other suites of this process open and close files meanwhile.
            #expect(after >= before + 25, "\(before) and \(after)")
            #expect(try after <= Self.processFigure("process_max_fds"))
            withExtendedLifetime(files) {}
        }
    #endif
}
