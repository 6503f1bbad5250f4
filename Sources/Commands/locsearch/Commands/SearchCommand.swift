import ArgumentParser
import EventContract
import Kafka
import LocationSearch

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Sends one request and waits for its outcome.",
        discussion: """
            While `locsearch demo` runs and no broker is set, the command uses its broker:

              locsearch search --lat 35.69 --lng 139.70
              locsearch search --lat 35.69 --lng 139.70 --category hospital --language ja
              locsearch search --lat 35.69 --lng 139.70 --json | jq '.places[].name'
              locsearch search --provider hotpepper --place-id J001234567
              locsearch search --kafka-bootstrap-servers broker:9092 --lat 48.86 --lng 2.35

            The request expires when the command stops waiting: workers then make no provider call for it.

            Exit code 0: a result; 1: an error outcome; 69: no broker, or no outcome in time.
            """)

    @OptionGroup(title: "Request") var request: RequestOptions
    @Option(help: "How long to wait for the outcome.", transform: DurationArgument.read) var timeout = DurationArgument(
        .seconds(15))
    @Flag(help: "Prints the outcome event as JSON.") var json = false
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func run() async throws {
        let (settings, log) = try await ToolSettings.load(options)
        let (request, requestClass) = (try request.request(), try request.requestClass())
        let begin = Instant.now
        let deadline = begin + timeout.duration
        // The request expires when this command stops waiting, so that no call is paid for without a reader.
        let expiry = WallTime.now().adding(timeout.duration)
        Terminal.progress("asking the broker at \(settings.text("kafka.bootstrapServers")) ...")
        defer { Terminal.endProgress() }
        // The outcome topics are read from their ends, so they must be open before the request is sent.
        let feed = try await OutcomeFeed(settings, at: .end, within: timeout.duration, log: log)
        let sender = try await RequestSender(settings, timeout: timeout.duration, log: log)
        let position = try await sender.send(request, expiry: expiry, priority: requestClass)
        let outcome = try await wait(for: position, from: feed, since: begin, until: deadline)
        await sender.close()
        guard let outcome, let event = outcome.event else {
            Terminal.endProgress()
            throw Failure(
                "no outcome within \(timeout.duration.readable): is a worker running on "
                    + "\(position.topic)? `locsearch status` shows it, and `locsearch demo` starts one, with a broker and a provider. "
                    + "The request has expired and costs no provider call", code: Failure.unreachable)
        }
        Terminal.endProgress()
        Terminal.line(json ? outcome.json : OutcomeText.full(event, asked: request))
        if case .failed = event.body { throw ExitCode(1) }
    }

    /// - Returns: `nil` if the deadline passed without an outcome.
    private func wait(
        for position: SourcePosition, from feed: OutcomeFeed, since begin: Instant,
        until deadline: Instant
    ) async throws -> ReceivedOutcome? {
        while Instant.now < deadline {
            let seconds = (Instant.now - begin) / .seconds(1)
            Terminal.progress("waiting for the outcome, \(OutcomeText.decimal(seconds, places: 1)) s")
            for outcome in try await feed.next(within: min(.milliseconds(200), deadline - .now)) {
                if outcome.event?.source == position { return outcome }
            }
        }
        return nil
    }
}
