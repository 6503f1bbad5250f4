import ArgumentParser
internal import Basics
import Foundation
import QuotaSharing

struct ControlsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controls",
        abstract: "Shows and changes how running workers work: pauses, rates, concurrency, log level, drain.",
        discussion: """
            An order reaches the whole fleet over its topic (topics.fleet), or one worker with --worker. It lasts until a time
            (--until 18:00, --for 30m) or until it is taken back. One to the fleet outlasts restarts of its workers; one to a
            worker ends with that worker. Workers refuse what goes beyond their settings, unless it is forced.

              locsearch controls
              locsearch controls pause hotpepper --for 30m
              locsearch controls pause intake --until 18:00
              locsearch controls resume hotpepper
              locsearch controls rate hotpepper 20
              locsearch controls concurrency 64 --worker web-1
              locsearch controls log-level debug --for 10m
              locsearch controls rate hotpepper reset
              locsearch controls drain web-1

            Of two orders about the same thing the later one counts. Workers compare --until with their own clocks. For a day's
            calls see locsearch budget.

            Exit codes: 0 every worker that answers has taken the order up; 1 one has not, or nothing was changed.
            """,
        subcommands: [
            ShowCommand.self, PauseCommand.self, ResumeCommand.self, RateCommand.self, ConcurrencyCommand.self,
            LogLevelCommand.self, DrainCommand.self,
        ],
        defaultSubcommand: ShowCommand.self)
}

extension ControlsCommand {
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows the orders in force, the workers that are there, and daily budgets.")

        @Flag(help: "One JSON object.") var json = false
        @Option(help: "How long the broker may say nothing before the command fails.", transform: DurationArgument.read)
        var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try ControlTopic(settings, timeout: timeout.duration, log: log)
            let report = ControlReport(try await topic.book(), workers: try await topic.ask())

            if json { return Terminal.line(report.json) }
            for line in report.text { Terminal.line(TerminalText.safe(line)) }
            guard !settings.callsPerDay.isEmpty else { return }

            let budgets = try BudgetTopic(settings, timeout: timeout.duration, log: log)
            let days = BudgetReport(
                try await budgets.ledger(), fleet: budgets.fleet, callsPerDay: settings.callsPerDay,
                reserves: settings.budgetReserves,
                days: ProviderDays(settings.dayZones), at: Date(WallTime.now()))
            Terminal.line()
            for line in days.text { Terminal.line(line) }
        }
    }
}
