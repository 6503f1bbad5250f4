import ArgumentParser
internal import Basics
import Foundation

struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Shows the used and remaining calls of the day, and changes the day's budget.",
        discussion: """
            Counts the calls of all workers, as published in the fleet topic. Budgets and the start of the day come from
            the same settings as the workers' (providers.<name>.callsPerDay, dayBegins).

              locsearch budget
              locsearch budget --json
              locsearch budget set hotpepper 5000
              locsearch budget reset hotpepper --yes

            "reserved" counts calls that workers have reserved but not made, also those of crashed workers; they count
            as used. "for interactive" counts the last calls of the day, which batch requests cannot use, if these
            settings reserve any (callsPerDayReserved).
            """, subcommands: [ShowCommand.self, SetCommand.self, ResetCommand.self],
        defaultSubcommand: ShowCommand.self)
}

extension BudgetCommand {
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows used and remaining calls by provider, operation and price class.")

        @Flag(help: "Prints one JSON object per provider and line.") var json = false
        @Option(help: "Fails after this time without a response from the broker.", transform: DurationArgument.read)
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
