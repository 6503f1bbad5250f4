import Basics
package import EventLoop
internal import HTTPTransport
package import Logging
internal import Metrics
package import Observability

/// The traces of a process: a tracer for its requests, and the export of their spans to a collector.
package final class TraceExport: Sendable {
    /// The longest time for exporting the last spans when the process ends.
    private static let flushTime = Duration.seconds(3)

    /// The tracer that starts every span.
    package let tracer: SpanTracer
    private let exporter: SpanExporter
    private let http: HTTPTransport

    /// Makes a tracer whose spans are exported to a collector.
    /// - Parameter seed: determines the ids of spans; each process needs a different one.
    /// - Parameter secrets: the texts to mask in exported spans.
    /// - Throws: `EventLoopError` if the system cannot create a thread.
    package init(
        _ configuration: TraceExportConfiguration, seed: UInt64, secrets: SecretRegistry = .shared, log: Logger
    ) throws(EventLoopError) {
        let loop = try EventLoop()
        let meters = ExportMeters()
        let queue = SpanQueue(limit: configuration.queueSize, batchSize: configuration.batchSize, meters: meters)
        var options = HTTPConfiguration()
        options.caFile = configuration.caFile
        options.maxResponseBytes = 65_536
        options.maxIdleConnections = 1
        http = HTTPTransport(loop: loop, configuration: options)

        exporter = SpanExporter(
            configuration, queue: queue, http: http, loop: loop, secrets: secrets, meters: meters, log: log)
        tracer = SpanTracer(
            sampleRatio: configuration.sampleRatio, ignoresParent: configuration.ignoresParent, seed: seed
        ) { [registry = MetricsSystem.factory as? MetricsRegistry] span in
            queue.add(span)
            registry?.keepExemplars(of: span)
        }
    }

    /// Exports spans until `stop`.
    package func run() async { await exporter.run() }

    /// Exports the waiting spans within `flushTime`, and ends.
    /// - Parameter running: the task that calls `run`.
    package func stop(_ running: Task<Void, Never>) async {
        await exporter.finish()
        let limit = Task(executorPreference: exporter.loop) { [loop = exporter.loop] in
            if (try? await loop.sleep(for: Self.flushTime)) != nil { running.cancel() }
        }
        await running.value
        limit.cancel()
        await limit.value

        await http.shutdown()
        exporter.loop.stop()
    }
}
