import EventLoop
import HTTPTransport
import InMemoryLogging
import Logging
import Observability
import TestSupport
import Testing
import Tracing

@testable import TraceExport

/// An exporter on its event loop, with a scripted collector.
struct SpanExporterTests {
    private struct ExporterFixture: Sendable {
        let loop: EventLoop
        let collector: FakeCollector
        let registry = MetricsRegistry()
        let tracer: SpanTracer
        let exporter: SpanExporter
        let log = InMemoryLogHandler()

        init(
            _ collector: FakeCollector, secrets: [String] = [],
            _ change: (inout TraceExportConfiguration) -> Void = { _ in }
        )
            throws
        {
            loop = try EventLoop()
            self.collector = collector
            var configuration = TraceExportConfiguration(endpoint: "http://collector")
            configuration.headers = ["Authorization": "Bearer token"]
            configuration.batchSize = 10
            configuration.queueSize = 100
            configuration.interval = .milliseconds(1)
            configuration.firstPause = .milliseconds(1)
            change(&configuration)

            let hidden = SecretRegistry()
            for secret in secrets { hidden.add(secret) }
            let meters = ExportMeters(factory: registry)
            let queue = SpanQueue(
                limit: configuration.queueSize, batchSize: configuration.batchSize, meters: meters)
            tracer = SpanTracer(sampleRatio: 1, seed: 1) { queue.add($0) }
            let log = log
            exporter = SpanExporter(
                configuration, queue: queue, http: collector, loop: loop, secrets: hidden, meters: meters,
                log: Logger(label: "test") { _ in log })
        }

        func endSpans(_ count: Int, named name: String = "step") {
            for _ in 0..<count { tracer.startSpan(name, context: .topLevel).end() }
        }

        /// The numbers of spans: exported, dropped, failed.
        var counts: [Int64] {
            ["exported", "dropped", "failed"].map { registry.total(of: "locsearch_trace_spans_\($0)_total") }
        }

        /// Runs the exporter during `body`, then lets it finish.
        func run(_ body: () async throws -> Void) async throws {
            let running = Task(executorPreference: loop) { await exporter.run() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            await exporter.finish()
            await running.value
            loop.stop()
            try result.get()
        }
    }

    @Test func `Spans are sent in batches with the headers of the settings`() async throws {
        let fixture = try ExporterFixture(FakeCollector(200))
        try await fixture.run {
            fixture.endSpans(25)
            try await eventually("all are exported") { fixture.counts == [25, 0, 0] }
        }

        let request = try #require(fixture.collector.requests.first)
        #expect(fixture.collector.requests.count >= 3)
        #expect(request.url == "http://collector/v1/traces")
        #expect(request.headers.contains { $0 == ("Authorization", "Bearer token") })
        #expect(request.headers.contains { $0 == ("Content-Type", "application/x-protobuf") })
        #expect(fixture.log.entries.isEmpty)
    }

    @Test func `A batch is sent again until the collector is back and logged once`() async throws {
        let fixture = try ExporterFixture(
            FakeCollector([
                .failure(HTTPError(.connect, "collector:4318 refused")), .success(HTTPResponse(status: 503)),
                .success(HTTPResponse(status: 429, retryAfter: "0")), .success(HTTPResponse(status: 200)),
            ]))
        try await fixture.run {
            fixture.endSpans(3)
            try await eventually("they are exported") { fixture.counts == [3, 0, 0] }
        }

        #expect(fixture.collector.requests.count == 4)
        #expect(fixture.log.entries.map(\.level) == [.warning, .info])
        #expect(fixture.log.entries.first?.metadata["reason"] == "collector:4318 refused")
    }

    @Test(arguments: [400, 401, 404, 413, 301])
    func `A batch that the collector rejects is not sent again`(status: Int) async throws {
        let fixture = try ExporterFixture(FakeCollector(status, 200))
        try await fixture.run {
            fixture.endSpans(10)
            try await eventually("they have failed") { fixture.counts == [0, 0, 10] }
            fixture.endSpans(10)
            try await eventually("the next are exported") { fixture.counts == [10, 0, 10] }
        }
        #expect(fixture.collector.requests.count == 2)
    }

    @Test func `A batch is dropped after five attempts`() async throws {
        let fixture = try ExporterFixture(FakeCollector(503))
        try await fixture.run {
            fixture.endSpans(1)
            try await eventually("it has failed") { fixture.counts == [0, 0, 1] }
        }
        #expect(fixture.collector.requests.count == 5)
    }

    @Test func `Spans beyond the queue are dropped and counted while the collector hangs`() async throws {
        let fixture = try ExporterFixture(FakeCollector([.success(HTTPResponse(status: 200))], hangs: true)) {
            $0.timeout = .seconds(60)
        }
        let running = Task(executorPreference: fixture.loop) { await fixture.exporter.run() }
        fixture.endSpans(10)
        try await eventually("a batch is under way") { fixture.collector.requests.count == 1 }
        fixture.endSpans(150)
        #expect(fixture.counts == [0, 50, 0])

        // The end does not wait for the collector either: cancelled spans are counted.
        await fixture.exporter.finish()
        running.cancel()
        await running.value
        #expect(fixture.counts == [0, 150, 10])
        fixture.loop.stop()
    }

    @Test func `Waiting spans are sent at the end`() async throws {
        let fixture = try ExporterFixture(FakeCollector(200)) { $0.interval = .seconds(60) }
        try await fixture.run { fixture.endSpans(37) }
        #expect(fixture.counts == [37, 0, 0])
    }

    @Test func `The end does not wait for a collector that is down`() async throws {
        let fixture = try ExporterFixture(FakeCollector(503)) {
            $0.interval = .seconds(60)
            $0.firstPause = .seconds(30)
        }
        try await fixture.run { fixture.endSpans(37) }
        #expect(fixture.counts == [0, 27, 10])
        // The first attempt, and the one that the end makes at once in place of the pause.
        #expect(fixture.collector.requests.count <= 2)
    }

    @Test func `A secret in a span is overwritten`() async throws {
        let fixture = try ExporterFixture(FakeCollector(200), secrets: ["geheim+4711"])
        try await fixture.run {
            let span = fixture.tracer.startSpan("key geheim+4711", context: .topLevel)
            span.attributes["url.full"] = "http://a/?key=geheim%2B4711&b"
            span.end()
            try await eventually("it is exported") { fixture.counts == [1, 0, 0] }
        }

        guard case .post(let body)? = fixture.collector.requests.first?.method else { return }
        let text = String(decoding: body, as: UTF8.self)
        #expect(!text.contains("geheim"))
        #expect(text.contains("key ***********"))
        #expect(text.contains("http://a/?key=*************&b"))
    }

    /// The exporter goes on after any number in a collector's answer.
    @Test(arguments: ["nan", "-nan", "inf", "-inf", "1e400", "-1", "99999999999999999999", "x", ""])
    func `The exporter accepts any retry time`(retryAfter: String) {
        let result = ExportResult(HTTPResponse(status: 503, retryAfter: retryAfter))
        guard case .unavailable(_, let pause) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(pause.map { $0 >= .zero && $0 <= .seconds(60) } ?? true)
    }
}
