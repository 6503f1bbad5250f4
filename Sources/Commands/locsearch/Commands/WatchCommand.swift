import ArgumentParser
import Kafka

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Prints outcomes as they arrive.",
        discussion: """
            With `locsearch demo` running, its broker is used when none is set. Ends at Ctrl-C, or after --count outcomes.

              locsearch watch
              locsearch watch --from-beginning --count 100
              locsearch watch --session 7f3a --from-beginning
              locsearch watch --json | jq 'select(.error)'

            A line shows when the outcome was made, provider, operation, time taken, what came of it, the record's key, the
            session and the request id; a dash stands for what an outcome does not have. Behind that, an error has its message,
            and in brackets the provider's HTTP status and own status, and when to ask again. With --json a line is the event's
            value as it is in the topic: the key is no part of it.

            After a crash one request may have two outcomes; both name the same position of its record (source-topic,
            source-partition, source-offset). Where one is a result and the other an error, such as superseded, the result
            counts, whichever came first. Otherwise the first one counts.
            """)

    @OptionGroup(title: "Filter") var filter: OutcomeFilter
    @Flag(help: "Begins with the oldest outcomes there are, not with the next.") var fromBeginning = false
    @Flag(help: "One outcome event a line, as JSON.") var json = false
    @Option(help: "Ends after so many outcomes that match.") var count: Int?
    @Option(help: "How long to wait for the broker at the start.", transform: DurationArgument.read) var timeout =
        DurationArgument(.seconds(15))
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes 1 or more") }
    }

    func run() async throws {
        let (settings, log) = try await ToolSettings.load(options)
        let feed = try await OutcomeFeed(
            settings, at: fromBeginning ? .beginning : .end, within: timeout.duration, log: log)
        if !json { Terminal.note("watching \(feed.topics.joined(separator: " and ")); Ctrl-C ends") }

        var left = count ?? .max
        while left > 0 {
            let outcomes = try await feed.next(within: .seconds(1)).filter(filter.matches)
            for outcome in outcomes.prefix(left) {
                Terminal.line(json ? outcome.json : OutcomeLine.text(outcome))
                left -= 1
            }
        }
    }
}
