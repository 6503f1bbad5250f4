import ArgumentParser
import EventContract
import Foundation
import Kafka
import LocationSearch
import ProviderSimulator

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Runs broker, provider and worker in one process and shows searches going through.",
        discussion: """
            Nothing leaves this machine and no key is needed: the provider is simulated. Afterwards everything stays up for
            `locsearch search` and `locsearch watch` from other terminals, until Ctrl-C.

              locsearch demo
              locsearch demo --once --record outcomes.jsonl
              locsearch demo --workers 3 --log-level info
            """)

    @Flag(help: "Ends after the table.") var once = false
    @Option(help: "How many workers share the requests.") var workers = 1
    @Option(help: "Writes every outcome to this file, one record a line, for schemas/validate.py.") var record: String?
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func validate() throws {
        guard (1...6).contains(workers) else { throw ValidationError("--workers takes 1 to 6") }
    }

    func run() async throws {
        ignoreBrokenPipes()
        let house = try await DemoHouse(options, workers: workers)
        let state = DemoState(bootstrapServers: house.broker.bootstrapServers, pid: ownProcessID)
        defer { state.remove() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in house.workers { group.addTask { try await worker.run() } }
            group.addTask {
                do {
                    try await show(house, state)
                } catch {
                    await house.drain()
                    throw error
                }
                await house.drain()
            }
            try await group.waitForAll()
        }
        // Only now: until here, the loops of a worker that has failed answer those who wait for it to be ready.
        for worker in house.workers { worker.stopLoops() }
        await house.simulator.shutdown()
    }

    private func show(_ house: DemoHouse, _ state: DemoState) async throws {
        Terminal.line("broker     \(house.broker.bootstrapServers)  (embedded, on this machine only)")
        Terminal.line("provider   \(house.simulatorURL)  (simulated: Google Places, new and legacy, and Hot Pepper)")
        let begin = ContinuousClock.now
        while await !house.isReady() {
            guard begin.duration(to: .now) < .seconds(30) else {
                throw Failure(code: Failure.unreachable, description: "the workers got no partitions within 30 s")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let seconds = OutcomeText.decimal(begin.duration(to: .now) / .seconds(1), places: 1)
        Terminal.line("workers    \(workers), ready after \(seconds) s")
        state.write()
        try await search(house)
        if once { return }
        Terminal.line(
            """

            Everything stays up. From another terminal:

              locsearch search --lat 35.69 --lng 139.70
              locsearch search --lat 34.70 --lng 135.50 --category hospital --language ja
              locsearch watch --from-beginning

            They find this demo by themselves; other tools need --kafka-bootstrap-servers \(state.bootstrapServers)
            Ctrl-C ends the demo.
            """)
        await ProcessSetup.onFirstTermination()
    }

    /// Sends everything at once, then what builds on a result, and prints the table.
    private func search(_ house: DemoHouse) async throws {
        let feed = try await OutcomeFeed(house.settings, at: .beginning, within: .seconds(15), log: house.log)
        let sender = try await RequestSender(house.settings, log: house.log)
        var collector = Collector(feed: feed, sender: sender)
        let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let searches = DemoRequest.searches(run)
        Terminal.line("\nSending \(searches.count + 2) requests ...\n")
        try await collector.run(searches)
        if let place = collector.firstPlace { try await collector.run(DemoRequest.followUps(run, of: place)) }
        await sender.close()
        for line in collector.table.lines { Terminal.line(line) }
        if let record {
            let text = collector.received.map { $0.line + "\n" }.joined()
            guard FileManager.default.createFile(atPath: record, contents: Data(text.utf8)) else {
                throw Failure(code: 1, description: "--record: cannot write \(record)")
            }
        }
        guard collector.missing == 0 else {
            throw Failure(code: 1, description: "\(collector.missing) requests had no outcome within 20 s")
        }
    }

    /// Sends requests and keeps their outcomes.
    private struct Collector {
        let feed: OutcomeFeed
        let sender: RequestSender
        var table = DemoTable()
        var received: [ReceivedOutcome] = []
        var missing = 0

        init(feed: OutcomeFeed, sender: RequestSender) {
            self.feed = feed
            self.sender = sender
        }

        /// A place that has a picture to ask for.
        var firstPlace: Place? {
            for outcome in received {
                guard case .completed(let result)? = outcome.event?.body else { continue }
                if let place = result.places.first(where: { $0.provider == .hotpepper }) ?? nil { return place }
            }
            return nil
        }

        mutating func run(_ asked: [DemoRequest]) async throws {
            var open: [SourcePosition: Int] = [:]
            for (index, one) in asked.enumerated() { open[try await sender.send(one.request)] = index }
            var outcomes = [ReceivedOutcome?](repeating: nil, count: asked.count)
            let deadline = ContinuousClock.now + .seconds(20)
            while !open.isEmpty, ContinuousClock.now < deadline {
                for outcome in try await feed.next(within: .milliseconds(200)) {
                    guard let source = outcome.event?.source, let index = open.removeValue(forKey: source) else {
                        continue
                    }
                    outcomes[index] = outcome
                    received.append(outcome)
                }
            }
            for (one, outcome) in zip(asked, outcomes) { table.add(one, outcome) }
            missing += open.count
        }
    }
}
