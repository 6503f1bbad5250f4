import ArgumentParser
import EventContract
import Kafka
import WorkerRuntime

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Prints outcomes as they arrive.",
        discussion: """
            With `locsearch demo` running, its broker is used when none is set. Ends at Ctrl-C, or after --count outcomes.

              locsearch watch
              locsearch watch --from-beginning --count 100
              locsearch watch --json | jq 'select(.error)'
            """)

    @Flag(help: "Begins with the oldest outcomes there are, not with the next.") var fromBeginning = false
    @Flag(help: "One outcome event a line, as JSON.") var json = false
    @Option(help: "Ends after so many outcomes.") var count: Int?
    @Option(help: "How long to wait for the broker at the start.") var timeout = DurationArgument(.seconds(15))
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes 1 or more") }
    }

    func run() async throws {
        let (settings, log) = try await ToolSettings.load(options)
        let feed = try await OutcomeFeed(
            settings, at: fromBeginning ? .beginning : .end, within: timeout.duration, log: log)
        if !json { Terminal.note("watching \(settings.topics.results) and \(settings.topics.errors); Ctrl-C ends") }
        var left = count ?? .max
        while left > 0 {
            for outcome in try await feed.next(within: .seconds(1)).prefix(left) {
                Terminal.line(json ? outcome.json : Self.line(outcome))
                left -= 1
            }
        }
    }

    /// Columns that stay in place from line to line.
    static func line(_ outcome: ReceivedOutcome) -> String {
        guard let event = outcome.event else { return "(no outcome event) \(outcome.record.partition.id)" }
        let time = event.completedAt.map { String($0.description.dropFirst(11).prefix(12)) } ?? ""
        let cells: [(String, Int)] = [
            (time, 12), (event.provider ?? "-", 20), (event.operation ?? "-", 7),
            (OutcomeText.milliseconds(event) + " ms", 8), (OutcomeText.summary(event), 44),
        ]
        var line = ""
        for (text, width) in cells {
            let cell = TerminalText.cut(TerminalText.safe(text), to: width)
            line += cell + String(repeating: " ", count: width - TerminalText.width(of: cell)) + "  "
        }
        return line + TerminalText.cut(TerminalText.safe(event.requestID), to: 48)
    }
}
