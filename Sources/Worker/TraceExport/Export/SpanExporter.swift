internal import Basics
import EventLoop
import HTTPTransport
import Logging
import Metrics
import Observability

/// Sends ended spans to a collector, one batch at a time: OTLP over HTTP with Protocol Buffers.
///
/// It runs on a dedicated event loop, so that neither encoding nor a slow collector takes time from requests. One
/// export is in flight at a time. While the collector is unavailable, one batch is retried with back-off, the queue
/// fills, and further spans are dropped.
actor SpanExporter {
    /// The most attempts to send one batch.
    private static let mostAttempts = 5
    /// The longest pause between two attempts.
    private static let longestPause = Duration.seconds(30)

    /// The longest rest while no span waits. The timer of each rest remains until its time has passed.
    private static let idleRest = Duration.seconds(10)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let configuration: TraceExportConfiguration
    private let request: OTLPRequest
    private let queue: SpanQueue
    private let http: any HTTPSending
    private let secrets: SecretRegistry
    private let meters: ExportMeters
    private let log: Logger
    private let wakeUp = WakeUp()
    private var isEnding = false
    private var isTroubled = false

    init(
        _ configuration: TraceExportConfiguration, queue: SpanQueue, http: any HTTPSending, loop: EventLoop,
        secrets: SecretRegistry, meters: ExportMeters, log: Logger
    ) {
        self.configuration = configuration
        request = configuration.request
        self.queue = queue
        (self.http, self.loop, self.secrets, self.meters, self.log) = (http, loop, secrets, meters, log)
    }

    /// Exports spans until `finish`, and then those that wait, as long as the collector accepts them. Cancelling the
    /// task ends it at once.
    func run() async {
        queue.onChange { [wakeUp] in wakeUp.wake() }

        while !isEnding {
            await waitForBatch()
            await export(queue.takeBatch())
        }
        while queue.count > 0, !isTroubled, !Task.isCancelled { await export(queue.takeBatch()) }
        meters.dropped.increment(by: queue.removeAll())
    }

    /// Makes `run` send the waiting spans and return.
    func finish() {
        isEnding = true
        wakeUp.wake()
    }

    /// Waits for a first span, and then until its batch is full or has waited long enough.
    private func waitForBatch() async {
        while queue.count == 0, !isEnding {
            await wakeUp.rest(for: Self.idleRest, on: loop)
        }
        await pause(configuration.interval, unless: { queue.count >= configuration.batchSize })
    }

    /// Waits for `time`, or until `finish` is called or `condition` holds.
    private func pause(_ time: Duration, unless condition: () -> Bool) async {
        let due = loop.now + time
        while loop.now < due, !isEnding, !condition() {
            await wakeUp.rest(for: loop.now.duration(to: due), on: loop)
        }
    }

    // MARK: - One batch

    /// Sends a batch, and retries while the collector is unavailable.
    private func export(_ spans: [RecordedSpan]) async {
        guard !spans.isEmpty else { return }
        // Secrets in spans, whatever their origin, must not leave the process.
        let body = secrets.masked(request.bytes(of: spans))

        for attempt in 1... {
            switch await send(body) {
            case .taken:
                meters.exported.increment(by: spans.count)
                return noteSuccess()

            case .refused(let reason):
                meters.failed.increment(by: spans.count)
                return noteTrouble(reason)

            case .unavailable(let reason, let retryAfter):
                noteTrouble(reason)
                guard attempt < Self.mostAttempts, !isEnding else { return meters.failed.increment(by: spans.count) }
                await pause(pause(after: attempt, asked: retryAfter), unless: { false })
            }
        }
    }

    private func send(_ body: [UInt8]) async -> ExportResult {
        var headers = configuration.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        headers.append((name: "Content-Type", value: "application/x-protobuf"))
        do throws(HTTPError) {
            return ExportResult(
                try await http.send(
                    HTTPRequest(method: .post(body), url: configuration.tracesURL, headers: headers),
                    before: loop.now + configuration.timeout))
        } catch {
            return ExportResult(error)
        }
    }

    /// Returns the pause before a retry. Jitter prevents workers that lost the collector together from reconnecting
    /// together.
    private func pause(after attempt: Int, asked: Duration?) -> Duration {
        if let asked { return asked }
        let longest = min(configuration.firstPause * (1 << (attempt - 1)), Self.longestPause)
        var random = loop.random
        return longest * Double.random(in: 0.5...1, using: &random)
    }

    // MARK: - Logging, one line for each change

    private func noteTrouble(_ reason: String) {
        guard !isTroubled else { return }
        isTroubled = true
        log.warning(
            "the trace collector does not accept spans; requests continue, and spans are dropped when the queue is full",
            metadata: ["reason": "\(reason)"])
    }

    private func noteSuccess() {
        guard isTroubled else { return }
        isTroubled = false
        log.info("the trace collector accepts spans again")
    }
}
