import ArgumentParser
import EventContract
import Foundation
import HTTPServing
import Kafka
import ProviderSimulator
import TraceExport

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Runs broker, provider, worker and console in one process, and sends sample searches.",
        discussion: """
            The provider is simulated: nothing leaves this machine and no key is needed. The demo then keeps running for
            `locsearch search` and `locsearch watch` in other terminals, until Ctrl-C. It sends requests at a low rate,
            and a second worker joins in a separate process. The console has a panel that causes faults: a slow or
            failing provider, a rejected key, an exhausted quota, an unreachable broker, a killed worker.

              locsearch demo
              locsearch demo --no-traffic
              locsearch demo --once --record outcomes.jsonl
              locsearch demo --workers 3 --log-level info
              locsearch demo --admin-port 8080

            The admin endpoints count for all workers of this process. A worker that is stopped during a rebalance may
            repeat its requests in flight: see `locsearch broker --help`.
            """)

    @Flag(help: "Exits after the table.") var once = false
    @Flag(help: "Opens the console in the browser.") var open = false
    @Flag(inversion: .prefixedNo, help: "Sends requests at a low rate while it runs.") var traffic = true
    @Option(help: "Number of workers that share the requests.") var workers = 1
    @Option(help: "Writes every outcome to this file, one record a line, for schemas/validate.py.") var record: String?
    @OptionGroup(title: "Settings") var options: SettingsOptions

    /// How long the consumer group may take to form. With the embedded broker this takes at least 3 s, and 5 s more
    /// each time it starts again.
    private static let timeToJoin = Duration.seconds(60)

    func validate() throws {
        guard (1...6).contains(workers) else { throw ValidationError("--workers takes 1 to 6") }
    }

    func run() async throws {
        ignoreBrokenPipes()
        let stack = try await DemoStack(options, workers: workers, stays: !once)
        FileDescriptors.raiseLimit(log: stack.log)
        let admin = try await stack.startAdminServer()
        Terminal.line("broker     \(stack.broker.bootstrapServers)  (embedded, on this machine only)")
        Terminal.line("provider   \(stack.simulatorURL)  (simulated: Google Places, new and legacy, and Hot Pepper)")

        // The child joins the group together with the other workers. If it joined later, no worker would process
        // requests during the rebalance.
        let child = once ? nil : try await WorkerChild(stack.settings)
        let state = DemoState(
            bootstrapServers: stack.broker.bootstrapServers, adminURL: stack.url(of: admin), childURL: child?.url,
            pictureURL: stack.pictureURL, providerURL: stack.simulatorURL, pid: ownProcessID,
            started: WallTime.now().milliseconds)
        defer { state.remove() }

        let exporting = Task { if let traces = stack.traces { await traces.run() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in stack.workers { group.addTask { try await worker.run() } }
            group.addTask {
                let result = await Result.catching { try await show(stack, child: child, state: state) }
                // The workers stop even after a failure, so that it ends the demo.
                await child?.stop()
                await stack.drain()
                try result.get()
            }
            try await group.waitForAll()
        }
        await stack.traces?.stop(exporting)
        await admin.stop(within: .seconds(2))
        // The loops stop only now: until here, the loops of a failed worker still answer readiness checks.
        for worker in stack.workers { worker.stopLoops() }
        await stack.simulator.shutdown()
    }

    /// Prints what is running, sends the searches, and stays until Ctrl-C unless `--once` was given.
    private func show(_ stack: DemoStack, child: WorkerChild?, state: DemoState) async throws {
        try await waitForWorkers(of: stack, child)

        state.write()
        try await search(stack)
        if let child { return try await stay(stack, child: child, state: state) }
        Terminal.line("Without --once the demo keeps running for your own searches, with a console in the browser.")
    }

    /// Serves the console and sends a trickle of requests until Ctrl-C.
    private func stay(_ stack: DemoStack, child: WorkerChild, state: DemoState) async throws {
        // The requests in the table include refusals, which would otherwise keep a provider's breaker open for minutes.
        await stack.renewKeys()
        await child.renewKey()
        await child.waitUntilKeysAreTried()

        let trickle = try await DemoTraffic(stack.settings, isOn: traffic, log: stack.log)
        let sending = Task { await trickle.run() }
        let panel = DemoControls(stack, child: child, traffic: trickle)
        let console = try await stack.startConsole(showing: state, panel: panel)
        // The signal handler must be in place before the output mentions Ctrl-C.
        let termination = await ProcessSetup.trapTermination()
        tell(of: console, child: child, state: state)

        await termination()
        sending.cancel()
        await console.stop()
        await sending.value
        // If a broker stays down, commits fail: workers would stop late, and their last requests would be repeated.
        try? await panel.clearFaults()
    }

    private func tell(of console: ConsoleService, child: WorkerChild, state: DemoState) {
        let program = CommandLine.arguments.first ?? "locsearch"
        Terminal.line(
            """
            The demo keeps running. Open it in a browser, where "Demo" causes faults:

              \(console.url)

            Or from another terminal, in this folder:

              \(program) search --lat 35.69 --lng 139.70
              \(program) search --lat 34.70 --lng 135.50 --category hospital --language ja
              \(program) watch --from-beginning

            A second worker runs in a separate process at \(child.url)
            The commands above find this demo; other tools need --kafka-bootstrap-servers \(state.bootstrapServers)
            This broker is for trials: a worker that is stopped during a rebalance may repeat its requests in flight.
            Ctrl-C ends the demo.
            """)
        // The fragment makes the page start a search at once, so that it shows results.
        if open { Self.openBrowser(console.url + "/#go") }
    }

    /// Opens a page if the system has a way to do so. Otherwise it does nothing; the address is also in the output.
    private static func openBrowser(_ url: String) {
        let environment = ProcessInfo.processInfo.environment
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }

        let opener = Process()
        opener.executableURL = URL(fileURLWithPath: "/usr/bin/xdg-open")
        opener.arguments = [url]
        opener.standardOutput = FileHandle.nullDevice
        opener.standardError = FileHandle.nullDevice
        try? opener.run()
    }

    private func waitForWorkers(of stack: DemoStack, _ child: WorkerChild?) async throws {
        let begin = Instant.now
        while await !stack.isReady(with: child) {
            guard begin.duration(to: .now) < Self.timeToJoin else {
                throw Failure(
                    "the workers got no partitions within \(Self.timeToJoin.readable)", code: Failure.unreachable)
            }
            try await Task.sleep(for: .milliseconds(50))
        }

        let seconds = OutcomeText.decimal(begin.duration(to: .now) / .seconds(1), places: 1)
        let others = child == nil ? "" : " and one in a separate process"
        Terminal.line("workers    \(workers)\(others), ready after \(seconds) s")
    }

    /// Sends the searches together, then the requests that use one of their results, and prints the table.
    private func search(_ stack: DemoStack) async throws {
        let feed = try await OutcomeFeed(stack.settings, at: .beginning, within: .seconds(15), log: stack.log)
        let sender = try await RequestSender(stack.settings, log: stack.log)
        var collector = DemoCollector(feed: feed, sender: sender)

        let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let (searches, shutting) = (DemoRequest.searches(run), DemoRequest.shutting(run))
        // With `--once`, breakers are disabled and nothing is logged.
        let logged =
            once ? "" : " The worker logs the last two as errors: a rejected key, and an exhausted quota."
        let count = searches.count + shutting.count + 2  // bounded: the number of requests written in the source
        Terminal.line("\nSending \(count) requests, some of which fail on purpose ...\(logged)\n")
        try await collector.run(searches)
        if let place = collector.firstPlace { try await collector.run(DemoRequest.followUps(run, of: place)) }
        try await collector.run(shutting)
        await sender.close()

        for line in collector.lines { Terminal.line(line) }
        Terminal.line(
            """

            ms is the time from reading a request to its outcome; calls are the calls to the provider, including
            retries.

            """)
        if let record { try write(collector.received, to: record) }
        guard collector.missing == 0 else {
            throw Failure("\(collector.missing) requests had no outcome within \(DemoCollector.timeout.readable)")
        }
    }

    private func write(_ outcomes: [ReceivedOutcome], to path: String) throws {
        let text = outcomes.map { $0.line + "\n" }.joined()
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8)) else {
            throw Failure("--record: cannot write \(path)")
        }
    }
}
