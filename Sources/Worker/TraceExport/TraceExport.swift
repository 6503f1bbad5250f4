import Basics
package import EventLoop
internal import HTTPTransport
package import Logging
package import Observability

/// The traces of a process: a tracer for its requests, and the export of their spans to a collector and to the log.
package final class TraceExport: Sendable {
    /// The longest time for exporting the last spans when the process ends.
    private static let flushTime = Duration.seconds(3)

    /// The tracer that starts every span.
    package let tracer: SpanTracer
    private let exporter: SpanExporter?
    private let http: HTTPTransport?

    /// Makes a tracer whose spans are exported if `configuration` has an endpoint, and logged by `spanLog`.
    /// - Parameter recordsAll: whether requests that are not sampled are also traced, for the log only.
    /// - Parameter seed: determines the ids of spans; each process needs a different one.
    /// - Parameter secrets: the texts to mask in exported spans.
    /// - Throws: `EventLoopError` if the system cannot create a thread.
    package init(
        _ configuration: TraceExportConfiguration, recordsAll: Bool, seed: UInt64, spanLog: SpanLog?,
        secrets: SecretRegistry = .shared, log: Logger
    ) throws(EventLoopError) {
        var queue: SpanQueue?
        if let url = configuration.tracesURL {
            let loop = try EventLoop()
            let meters = ExportMeters()
            let waiting = SpanQueue(
                limit: configuration.queueSize, batchSize: configuration.batchSize, meters: meters)
            var options = HTTPConfiguration()
            options.caFile = configuration.caFile
            options.maxResponseBytes = 65_536
            options.maxIdleConnections = 1
            let transport = HTTPTransport(loop: loop, configuration: options)

            exporter = SpanExporter(
                url: url, configuration: configuration, request: configuration.request, queue: waiting,
                http: transport, loop: loop, secrets: secrets, meters: meters, log: log)
            http = transport
            queue = waiting
        } else {
            (exporter, http) = (nil, nil)
        }

        tracer = SpanTracer(sampleRatio: configuration.sampleRatio, recordsAll: recordsAll, seed: seed) {
            [queue] span in
            if span.trace.isSampled { queue?.add(span) }
            spanLog?.write(span)
        }
    }

    /// Exports spans until `stop`.
    package func run() async { await exporter?.run() }

    /// Exports the waiting spans within `flushTime`, and ends.
    /// - Parameter running: the task that calls `run`.
    package func stop(_ running: Task<Void, Never>) async {
        guard let exporter, let http else { return }
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
