import ArgumentParser
import Console
import EventLoop
import HTTPTransport
import Kafka
import Logging
import QuotaSharing

struct StatusCommand: AsyncParsableCommand {
    /// The exit code if no worker of the fleet takes requests, or they answer with errors, or not for all partitions.
    static let nobodyWorks: Int32 = 2

    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows the backlog of the fleet, its age, and the workers.",
        discussion: """
            The backlog is read from the brokers, so it is right even if no worker runs. A request counts as waiting
            until its outcome is published and its offset committed. Rates come from two readings, --window apart.
            Workers are the members that the brokers report, and the responses of the admin endpoints in
            console.workers. The command joins no group and changes nothing.

              locsearch status
              locsearch status --json --window 1s | jq .backlog.waiting
              locsearch status --console-workers http://worker-1:8080,http://worker-2:8080

            A partition counts as unread if all workers of console.workers answer and none of them has it.

            Exit codes: 0 workers take requests, or this cannot be determined; 2 no worker is ready, half of the requests
            fail, or partitions are unread; 1 no such topic, or not allowed; 64 wrong usage; 69 no broker responds; 78 a
            wrong setting.
            """)

    @OptionGroup var group: GroupOptions
    @Option(help: "Period over which rates are measured, up to 1h.", transform: DurationArgument.read) var window =
        DurationArgument(.seconds(5))
    @Flag(help: "Prints one JSON object, with all partitions.") var json = false
    @OptionGroup var tool: ToolOptions

    func validate() throws {
        try window.require(.milliseconds(100) ... .seconds(3600), "--window")
    }

    func run() async throws {
        let (settings, log) = try await tool.load()
        let (backlog, reports, workers) = try await read(settings, log: log)
        let report = PipelineReport(backlog: backlog, workers: workers)
        let orders = await orders(settings, log: log)

        if json {
            Terminal.line(StatusText.json(of: report, workers: reports, orders: orders))
        } else {
            for line in StatusText.lines(of: report, workers: reports, orders: orders) { Terminal.line(line) }
        }
        if ![.working, .unknown].contains(report.verdict) { throw ExitCode(Self.nobodyWorks) }
    }

    /// The orders of `locsearch controls` that are in force; empty if the fleet topic cannot be read.
    private func orders(_ settings: Settings, log: Logger) async -> [ControlOrder] {
        do {
            return try await ControlTopic(settings, timeout: tool.timeout.duration, log: log).book().orders
        } catch {
            log.debug("the fleet topic cannot be read", metadata: ["reason": "\(error)"])
            return []
        }
    }

    private func read(
        _ settings: Settings, log: Logger
    ) async throws -> (GroupBacklog, [WorkerReport], PipelineReport.Workers) {
        let loop = try EventLoop()
        let http = HTTPTransport(loop: loop, configuration: settings.adminHTTP)
        let poll = WorkerPoll(settings, token: WorkerToken(try settings.adminToken()), http: http)
        async let reports = poll.reports()

        let backlog = await Result.catching { try await readTwice(settings, log: log) }
        let answers = await reports
        await http.shutdown()
        loop.stop()
        return (try backlog.get(), answers, poll.count(answers))
    }

    private func readTwice(_ settings: Settings, log: Logger) async throws -> GroupBacklog {
        var reader = try BacklogReader(
            settings, group: group.group, topic: group.topic, timeout: tool.timeout.duration, window: window.duration,
            log: log)
        Terminal.progress("asking the brokers at \(settings.text("kafka.bootstrapServers")) ...")
        defer { Terminal.endProgress() }
        _ = try await reader.read()
        Terminal.progress("measuring for \(window.duration.readable) ...")
        try await Task.sleep(for: window.duration)
        return try await reader.read()
    }
}
