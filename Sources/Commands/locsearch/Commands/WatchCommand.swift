import ArgumentParser
import Kafka

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Prints outcomes as they arrive.",
        discussion: """
            While `locsearch demo` runs and no broker is set, the command uses its broker. It ends at Ctrl-C, or after
            --count outcomes.

              locsearch watch
              locsearch watch --from-beginning --count 100
              locsearch watch --session 7f3a --from-beginning
              locsearch watch --json | jq 'select(.error)'

            A line shows the outcome's time, provider, operation, duration, result or error code, record key, session
            and request id; a dash stands for a missing value. Errors add their message, and in brackets the provider's
            HTTP status, its own status and the time to retry. With --json, a line is the event's value as in the topic,
            without the key; other records are left out.

            After a crash, one request may have two outcomes with the same position: see docs/events.md.
            """)

    @OptionGroup(title: "Filter") var filter: OutcomeFilter
    @Flag(help: "Starts with the oldest outcomes instead of new ones.") var fromBeginning = false
    @Flag(help: "Prints one outcome event per line, as JSON.") var json = false
    @Option(help: "Exits after this many matching outcomes.") var count: Int?
    @Option(help: "How long to wait for the broker at the start.", transform: DurationArgument.read) var timeout =
        DurationArgument(.seconds(15))
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func validate() throws {
        try requirePositive(count, "--count")
    }

    func run() async throws {
        let (settings, log) = try await ToolSettings.load(options)
        let feed = try await OutcomeFeed(
            settings, at: fromBeginning ? .beginning : .end, within: timeout.duration, log: log)
        if !json { Terminal.note("watching \(feed.topics.joined(separator: " and ")); press Ctrl-C to stop") }

        var (left, isNoted) = (count ?? .max, false)
        while left > 0 {
            let matching = try await feed.next(within: .seconds(1)).filter(filter.matches)
            let outcomes = json ? matching.filter { $0.event != nil } : matching
            if outcomes.count < matching.count, !isNoted {
                Terminal.note("records that are not outcome events are left out")
                isNoted = true
            }

            for outcome in outcomes.prefix(left) {
                Terminal.line(json ? outcome.json : OutcomeLine.text(outcome))
                left -= 1
            }
        }
    }
}
