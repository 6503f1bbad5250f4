import ArgumentParser
import Console
import Logging

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows the history of one request: its waits, provider calls and outcome.",
        discussion: """
            ID is a request id, a trace's id (32 hexadecimal digits), or the position of a request's record as outcomes
            name it in ce_id: topic-partition-offset. A position is read directly; for other ids, the command searches
            the requests topic, newest records first.

              locsearch explain console-1kq7x2
              locsearch explain location-search.requests-3-1204 --record
              locsearch explain 4bf92f3577b34da6a3ce929d0e0e4736 --since 72h --json

            Steps within a worker are shown if outcomes contain them: worker.requestSteps=true. The command joins no
            group and changes nothing. It needs Read on the topics, and Describe on the group for requests without an
            outcome.

            Exit codes: 0 found; 1 not found; 64 wrong usage; 69 no broker answers; 78 a wrong setting.
            """)

    @Argument(help: "A request id, a trace's id, or topic-partition-offset.") var id: String
    @Option(help: "How far back to search, up to 720h.", transform: DurationArgument.read) var since =
        DurationArgument(.seconds(24 * 3600))
    @Option(help: "Timeout of all reading, up to 1h.", transform: DurationArgument.read) var within =
        DurationArgument(.seconds(120))
    @Option(
        help: "Number of a topic's newest records to read if brokers cannot look up offsets by time, up to 10000000.")
    var newest = 20_000
    @Flag(help: "Also shows the record: key, headers and value.") var record = false
    @Flag(help: "Prints one JSON object, with the record.") var json = false
    @OptionGroup var tool: ToolOptions

    func validate() throws {
        if id.isEmpty { throw ValidationError("ID takes a request id, a trace's id, or topic-partition-offset") }
        try since.require(.seconds(1) ... .seconds(720 * 3600), "--since")
        try within.require(.seconds(1) ... .seconds(3600), "--within")
        guard (1...10_000_000).contains(newest) else { throw ValidationError("--newest takes 1 to 10000000") }
    }

    func run() async throws {
        let (settings, log) = try await tool.load()
        let link = try settings.traceLink()
        let reader = LifeReader(settings, timeout: tool.timeout.duration, log: log) { topic, records in
            Terminal.progress("reading \(topic) ... \(records.counted("record"))")
        }
        let extent = TopicScan.Extent(since: since.duration, time: within.duration, newest: newest)
        let lives = try await read(extent, by: reader)

        if json {
            Terminal.line(String(decoding: RequestLifeJSON.text(of: lives, link: link), as: UTF8.self))
        } else {
            for line in LifeText.lines(of: lives, link: link, withRecord: record) { Terminal.line(line) }
        }
        if lives.lives.isEmpty {
            if !json { Terminal.note(LifeText.notFound(lives, since: since.duration)) }
            throw ExitCode(1)
        }
    }

    private func read(_ extent: TopicScan.Extent, by reader: LifeReader) async throws -> RequestLives {
        defer { Terminal.endProgress() }
        return try await reader.lives(of: id, extent: extent)
    }
}
