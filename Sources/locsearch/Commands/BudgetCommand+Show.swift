import ArgumentParser
internal import Basics
import Foundation

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
                days: ProviderDays(settings.dayZones), at: Date(WallTime.now()))
            for line in json ? report.json : report.text { Terminal.line(line) }
        }
    }
}
