import AdminServer
import ArgumentParser
import Kafka
import LocationSearch
import Logging
import Observability
import WorkerRuntime

struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Runs a worker until SIGTERM.",
        discussion: """
            Settings come from flags, then the environment, then a file, then defaults: `locsearch config` shows them.

              HOTPEPPER_API_KEY=... locsearch worker --kafka-bootstrap-servers broker:9092
              locsearch worker --config worker.yaml --worker-concurrency 64 --admin-port 0

            SIGTERM or SIGINT lets what is in flight finish (worker.shutdownGrace); a second one exits at once.
            A provider without a key is not configured: who asks for it by name gets unauthorized.

            worker.maxRequestBytes is --worker-max-request-bytes or WORKER_MAX_REQUEST_BYTES, and so on:

            \(Setting.helpTable)
            """)

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        ignoreBrokenPipes()
        let settings = try options.load()
        let log = try ProcessSetup.logger(settings)
        let registry = ProcessSetup.metrics()
        let worker = try await WorkerProcess(settings, log: log)
        log.info(
            "worker starts",
            metadata: [
                "librdkafka": "\(LibraryVersion.running)", "requests": "\(settings.topics.requests)",
                "group": "\(settings.text("kafka.groupId"))",
                "providers": "\(worker.providers.map(\.rawValue).joined(separator: ","))",
            ])
        let (host, port) = (settings.text("admin.host"), settings.integer("admin.port"))
        let admin = AdminServer(
            source: WorkerStatus(worker: worker, registry: registry), host: host, port: port, log: log)
        let signals = Task { await ProcessSetup.onTermination { await worker.drain() } }
        defer { signals.cancel() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await worker.run()
                return true
            }
            group.addTask {
                do {
                    try await admin.run { port in
                        log.info("admin endpoints", metadata: ["url": "http://\(host):\(port)"])
                        if settings.integer("admin.port") == 0 { Terminal.line("admin http://\(host):\(port)") }
                        // The last part to come up.
                        ProcessSetup.giveBackStartUp()
                    }
                } catch is CancellationError {
                } catch {
                    await worker.drain()
                    throw Failure(
                        code: Failure.configuration,
                        description:
                            "admin.port: cannot listen on \(host):\(port); choose another, or 0 for any free one")
                }
                return false
            }
            while let isWorker = try await group.next() {
                if isWorker { group.cancelAll() }
            }
        }
        log.info(
            "worker ends",
            metadata: [
                "taken": "\(registry.total(of: "locsearch_requests_taken_total"))",
                "completed": "\(registry.total(of: "locsearch_requests_completed_total"))",
                "failed": "\(registry.total(of: "locsearch_requests_failed_total"))",
                "rejected": "\(registry.total(of: "locsearch_requests_rejected_total"))",
            ])
    }
}
