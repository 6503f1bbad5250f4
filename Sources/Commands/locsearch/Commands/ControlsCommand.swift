import ArgumentParser

struct ControlsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controls",
        abstract: "Shows and changes how running workers operate: pauses, retries, rates, concurrency, log level.",
        discussion: """
            An order applies to the whole fleet, or with --worker to one worker; it is published in topics.fleet. It
            lasts until a time (--until 18:00, --for 30m) or until it is withdrawn (resume, reset). An order to the
            fleet survives restarts of the workers; an order to one worker ends with that worker. Workers refuse values
            beyond their settings unless --force is given.

              locsearch controls
              locsearch controls pause hotpepper --for 30m
              locsearch controls pause intake --until 18:00
              locsearch controls resume hotpepper
              locsearch controls retry hotpepper
              locsearch controls rate hotpepper 20
              locsearch controls concurrency 64 --worker web-1
              locsearch controls log-level debug --for 10m
              locsearch controls rate hotpepper reset
              locsearch controls drain web-1

            A later order replaces an earlier one for the same thing. Workers compare --until with their own clocks. Use
            `locsearch budget` for daily call budgets.

            Exit codes: 0 every worker that responds has applied the order; 1 one has not, or nothing was changed.
            """,
        subcommands: [
            ShowCommand.self, PauseCommand.self, ResumeCommand.self, RetryCommand.self, RateCommand.self,
            ConcurrencyCommand.self, LogLevelCommand.self, DrainCommand.self,
        ],
        defaultSubcommand: ShowCommand.self)
}

extension ControlsCommand {
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows orders in force, running workers and daily budgets.")

        @Flag(help: "Prints one JSON object.") var json = false
        @OptionGroup var tool: ToolOptions

        func run() async throws {
            let (settings, log) = try await tool.load()
            let topic = try ControlTopic(settings, timeout: tool.timeout.duration, log: log)
            let report = ControlReport(try await topic.book(), workers: try await topic.ask())

            if json { return Terminal.line(report.json) }
            for line in report.text { Terminal.line(TerminalText.safe(line)) }
            guard !settings.budgets.isEmpty else { return }

            let budgets = try BudgetTopic(settings, timeout: tool.timeout.duration, log: log)
            Terminal.line()
            for line in try await budgets.report(settings).text { Terminal.line(line) }
        }
    }
}
