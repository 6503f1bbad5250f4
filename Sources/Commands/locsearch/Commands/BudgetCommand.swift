import ArgumentParser
internal import Basics
import Foundation

struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Shows what of the day's calls is used and left, and changes a day's budget.",
        discussion: """
            The calls are those of all workers, as they told each other in the fleet's topic. Which budgets there are, and
            when a day begins, is read from the same settings as the workers' (providers.<name>.callsPerDay, dayBegins).

              locsearch budget
              locsearch budget --json
              locsearch budget set hotpepper 5000
              locsearch budget reset hotpepper --yes

            Reserved are calls that workers hold ready, and those that a crashed worker held: they count as taken. For
            interactive are the last calls of the day, of which batch requests get none, where these settings keep any
            (callsPerDayReserved).
            """, subcommands: [ShowCommand.self, SetCommand.self, ResetCommand.self],
        defaultSubcommand: ShowCommand.self)
}

extension BudgetCommand {
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows what is used and left, by provider, operation and price class.")

        @Flag(help: "One provider a line, as JSON.") var json = false
        @Option(help: "How long the broker may say nothing before the command fails.", transform: DurationArgument.read)
        var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try BudgetTopic(settings, timeout: timeout.duration, log: log)

            let report = BudgetReport(
                try await topic.ledger(), fleet: topic.fleet, callsPerDay: settings.callsPerDay,
                reserves: settings.budgetReserves,
                days: ProviderDays(settings.dayZones), at: Date(WallTime.now()))
            for line in json ? report.json : report.text { Terminal.line(line) }
        }
    }
}
