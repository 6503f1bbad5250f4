import HTTPServing
import Kafka
import LocationSearch
import Logging
import Observability
import TraceExport
import WorkerRuntime

/// Runs one worker process, with the ordered steps of its start and its shutdown.
///
/// Everything that can fail is tried before the group is joined, because a member that joins and leaves again causes
/// two rebalances. At shutdown, the admin server stops before the event loops. Its answers come from actors on the
/// loops, and a stopped loop never answers.
struct WorkerService {
    /// How long admin requests in flight may take once the worker has left the group.
    private static let adminGrace = Duration.seconds(2)

    private let settings: Settings
    private let log: Logger
    private let registry: MetricsRegistry

    init(_ settings: Settings, registry: MetricsRegistry, log: Logger) {
        (self.settings, self.registry, self.log) = (settings, registry, log)
    }

    /// Works until SIGTERM, SIGINT or SIGHUP, or until Kafka fails permanently.
    /// - Throws: `SettingsError`, `KafkaError` or `Failure` if the start failed, which has no effect on the group;
    ///   `KafkaError` if nothing more could be committed.
    func run() async throws {
        FileDescriptors.raiseLimit(log: log)
        let traces = try settings.traceExport(log: log)
        let worker = try await WorkerProcess(settings, traces: traces, log: log)
        logStart(of: worker)

        // From here on a signal drains the worker, even before it has joined the group.
        let signals = Task {
            await ProcessSetup.onFirstTermination()
            if !Task.isCancelled { await worker.drain() }
        }
        defer { signals.cancel() }
        let watch = LoopWatch(worker.loops, log: log)
        let watching = Task { await watch.run() }
        defer { watching.cancel() }

        let exporting = Task { if let traces { await traces.run() } }

        let adminSecret = try settings.adminToken()
        let token = adminSecret.map { BearerToken($0) }
        let retention = RetentionWatch(
            topics: settings.topics.requestTopics.map(\.name), configuration: try settings.consumer(), log: log)
        let watchingRetention = Task { await retention.run { await worker.statuses().flatMap(\.positions) } }
        defer { watchingRetention.cancel() }

        let ends = EndWatch(registry)
        let watchingEnds = Task { await ends.run() }
        defer { watchingEnds.cancel() }

        let admin = try await startAdminServer(
            for: worker, watch: watch, retention: retention, ends: ends, token: token)
        let tokenFile = settings.tokenFile("admin", current: adminSecret) { token?.replace(with: $0) }
        let files = SecretFiles(worker.keyFiles(of: settings) + tokenFile, log: log)
        let reading = Task { await files.run() }
        defer { reading.cancel() }
        ProcessSetup.giveBackStartUp()

        await warnOfMissingTopics(worker)
        let result = await result(of: worker)

        // The group has been left, so exporting the last spans delays no rebalance. /metrics still shows what became of them.
        await traces?.stop(exporting)
        await admin.stop(within: Self.adminGrace)
        worker.stopLoops()
        logEnd()
        try result.get()
    }

    /// Logs one line with the missing topics. The worker starts anyway: brokers may create topics at the first write,
    /// and a worker that cannot write to a topic logs that and waits.
    private func warnOfMissingTopics(_ worker: WorkerProcess) async {
        let missing = await worker.missingTopics()
        guard !missing.isEmpty else { return }
        log.warning(
            "topics are missing, or this user may not see them: create them, or correct topics.*",
            metadata: ["topics": "\(missing.joined(separator: ", "))"])
    }

    /// Joins the group, works, and leaves the group.
    private func result(of worker: WorkerProcess) async -> Result<Void, any Error> {
        do {
            return .success(try await worker.run())
        } catch {
            return .failure(error)
        }
    }

    private func startAdminServer(
        for worker: WorkerProcess, watch: LoopWatch, retention: RetentionWatch, ends: EndWatch,
        token: BearerToken?
    ) async throws -> HTTPServer {
        let source = WorkerStatus(
            worker: worker, watch: watch, registry: registry, retention: retention, ends: ends,
            group: settings.text("kafka.groupId"))

        let admin = try await AdminServer.start(for: source, as: settings, token: token, log: log)
        let url = settings.url("admin.host", port: admin.port)
        log.info("admin endpoints", metadata: ["url": "\(url)"])
        if settings.integer("admin.port") == 0 { Terminal.line("admin \(url)") }
        return admin
    }

    // MARK: - First and last log line

    private func logStart(of worker: WorkerProcess) {
        log.info(
            "worker starts",
            metadata: [
                "version": "\(Version.current)", "librdkafka": "\(LibraryVersion.running)",
                "allocator": "\(ProcessSetup.allocator)",
                "requests": "\(settings.text("topics.requests"))", "group": "\(settings.text("kafka.groupId"))",
                "providers": "\(worker.providers.map(\.rawValue).joined(separator: ","))",
            ])
    }

    private func logEnd() {
        let counters = ["taken", "completed", "failed", "rejected"]
        log.info(
            "worker ends",
            metadata: Logger.Metadata(
                // bounded: the names in the constant above
                uniqueKeysWithValues: counters.map { name in
                    (name, "\(registry.total(of: "locsearch_requests_\(name)_total"))")
                }))
    }
}
