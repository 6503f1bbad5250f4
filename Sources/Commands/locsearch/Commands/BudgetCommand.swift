import ArgumentParser
internal import Basics
import Foundation
import LocationSearch
import QuotaSharing

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
        @OptionGroup var tool: ToolOptions

        func run() async throws {
            let (settings, log) = try await tool.load()
            let report = try await BudgetTopic(settings, timeout: tool.timeout.duration, log: log).report(settings)
            for line in json ? report.json : report.text { Terminal.line(line) }
        }
    }

    struct SetCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Changes the budget of all workers for the rest of the day.",
            discussion: """
                The new budget replaces providers.<name>.callsPerDay for the current day and takes effect within a
                second. The next day uses the budget of the settings again. 0 stops all calls. Exit code 1: nothing was
                changed, or not every worker with this budget has acknowledged the order.
                """)

        @Argument(help: "google-places, google-places-legacy or hotpepper.") var provider: String
        @Argument(help: "Calls of the whole day, including those already made.") var calls: Int
        @OptionGroup var change: BudgetChange

        func validate() throws {
            _ = try BudgetChange.provider(provider)
            guard (0...1_000_000_000).contains(calls) else {
                throw ValidationError("the budget takes 0 to 1000000000 calls")
            }
        }

        func run() async throws {
            let question = "set the budget of \(provider) to \(calls) calls for the current day"
            try await change.make(provider, question: question) { $0.limit = calls }
        }
    }

    struct ResetCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Resets the count of the day's calls to zero.",
            discussion: """
                Use it if the count is wrong, or if the provider has reset its quota. Calls that workers have reserved
                stay reserved. The provider's own count does not change.
                """)

        @Argument(help: "google-places, google-places-legacy or hotpepper.") var provider: String
        @OptionGroup var change: BudgetChange

        func validate() throws { _ = try BudgetChange.provider(provider) }

        func run() async throws {
            let question = "reset the count of the day's calls of \(provider) to zero"
            try await change.make(provider, question: question) { $0.isReset = true }
        }
    }
}

/// The steps shared by the commands that change a budget.
struct BudgetChange: ParsableArguments {
    @Flag(help: "Does not ask for confirmation.") var yes = false
    @Flag(help: "Gives the order even if no running worker has this budget: it applies to workers that start today.")
    var force = false
    @OptionGroup var tool: ToolOptions

    static func provider(_ name: String) throws -> ProviderID {
        guard let provider = ProviderID(rawValue: name) else {
            let names = ProviderID.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(name) is not a provider: expected one of \(names)")
        }
        return provider
    }

    /// Asks for confirmation, publishes the order, and shows the result.
    func make(
        _ name: String, question: String, change: (inout BudgetMessage.Order) -> Void
    ) async throws {
        let provider = try Self.provider(name)
        let (settings, log) = try await tool.load()
        let topic = try BudgetTopic(settings, timeout: tool.timeout.duration, log: log)
        // The first call also checks that the topic can be read before anything is written to it.
        func show() async throws {
            for line in try await topic.report(settings).text { Terminal.line(line) }
        }
        try await show()
        let keepers = try await requireKeepers(of: provider, settings: settings, topic: topic)
        guard yes || Terminal.confirms("\(question)?") else {
            throw Failure("nothing was changed")
        }

        // The user may have confirmed after midnight: the order applies to the current day.
        let time = Date(WallTime.now())
        guard let day = ProviderDays(settings.dayZones).day(of: provider, at: time) else { return }
        var order = BudgetMessage.Order(name, day: day.label, time: time.formatted(.iso8601))
        change(&order)
        let applied = try await topic.give(order, to: keepers, within: Self.timeToApply)
        Terminal.line()
        try await show()
        guard applied < keepers else { return }
        throw Failure(
            """
            \(applied) of \(keepers) workers have acknowledged the order for \(day.label) within \
            \(Self.timeToApply.readable): check the others for a different day (dayBegins, clocks), or no permission to write to topics.fleet
            """)
    }

    /// Prints how many workers will apply the order.
    /// - Returns: the number of those workers.
    /// - Throws: if there are none, because the order would have no effect.
    private func requireKeepers(of provider: ProviderID, settings: Settings, topic: BudgetTopic) async throws -> Int {
        let count = try await topic.countKeepers(of: provider, within: Self.timeToAnswer)
        let group = settings.text("kafka.groupId")
        let setting = Settings.providerNames.first { $0.id == provider }.map { "providers.\($0.name).callsPerDay" }
        guard count > 0 || force else {
            throw Failure(
                """
                0 workers of the group \(group) have a daily budget of \(provider.rawValue), so nothing was changed: \
                set \(setting ?? "callsPerDay") for the workers, or start them; --force gives the \
                order to workers that start later today
                """)
        }
        Terminal.note("\(count) \(count == 1 ? "worker has" : "workers have") a daily budget of \(provider.rawValue)")
        return count
    }

    /// Members read the fleet topic five times a second.
    private static let timeToAnswer = Duration.seconds(2)
    private static let timeToApply = Duration.seconds(5)
}

extension BudgetTopic {
    func report(_ settings: Settings) async throws -> BudgetReport {
        BudgetReport(
            try await ledger(), callsPerDay: settings.callsPerDay, reserves: settings.budgetReserves,
            days: ProviderDays(settings.dayZones), at: Date(WallTime.now()))
    }
}
