import ArgumentParser
internal import Basics
import Foundation
import LocationSearch
import QuotaSharing

struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Shows what is used and left of each budget, and changes budgets.",
        discussion: """
            Counts the calls of all workers, as published in the fleet topic. Budgets and the start of days and months
            come from the same settings as the workers' (providers.<name>.budgets, callsPerDay, dayBegins).

              locsearch budget
              locsearch budget show google-places/month/usd --json
              locsearch budget estimate --requests 1000 --operation search
              locsearch budget set hotpepper 5000
              locsearch budget set google-places/month/usd 350.00
              locsearch budget reset google-places/text-search-pro/month --yes

            "reserved" is what workers have reserved and not used, also that of crashed workers; it counts as used. "for
            interactive" is the last part of a period, which batch requests cannot use, if these settings keep any.
            "used up at this rate" is when nothing will be left if the period goes on as it has until now. Accounts that
            end in /free count the calls that the provider does not charge. "at the list price" does not regard free calls.
            """, subcommands: [ShowCommand.self, SetCommand.self, ResetCommand.self, EstimateCommand.self],
        defaultSubcommand: ShowCommand.self)
}

extension BudgetCommand {
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows what is used and left by account, operation and price class.")

        @Argument(help: "The only account to show. Default: all.", transform: BudgetChange.budget) var account: Budget?
        @Flag(help: "Prints one JSON object per account and line; money in millionths of the currency.") var json =
            false
        @OptionGroup var tool: ToolOptions

        func run() async throws {
            let (settings, log) = try await tool.load()
            var report = try await BudgetTopic(settings, timeout: tool.timeout.duration, log: log).report(settings)
            if let account = account?.account {
                report.lines.removeAll { $0.budget.account != account }
                guard !report.lines.isEmpty else { throw Failure("no budget has the account \(account)") }
            }
            for line in json ? report.json : report.text { Terminal.line(line) }
        }
    }

    struct SetCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Changes a budget of all workers for the rest of its day or month.",
            discussion: """
                The new budget replaces that of the settings for the current period and takes effect within a second.
                The next period uses the budget of the settings again. 0 stops all calls that count. Exit code 1: nothing
                was changed, or not every worker with this budget has acknowledged the order.
                """)

        @Argument(help: "An account, as locsearch budget lists it.", transform: BudgetChange.budget) var account: Budget
        @Argument(help: "The whole period's budget, including what is used: calls, or an amount such as 350.00.")
        var amount: String
        @OptionGroup var change: BudgetChange

        func validate() throws { _ = try limit() }

        private func limit() throws -> Int {
            let text = if case .money(let currency) = account.unit { "\(amount) \(currency)" } else { amount }
            switch BudgetText.Amount(text) {
            case .calls(let calls): return calls
            case .money(let micros, _) where account.unit != .calls: return micros
            default:
                let most =
                    account.unit == .calls ? "0 to 1000000000 calls" : "an amount such as 350.00, at most 1000000"
                throw ValidationError("the budget \(account.account) takes \(most)")
            }
        }

        func run() async throws {
            let limit = try limit()
            let amount = account.text(of: limit) + (account.unit == .calls ? " calls" : "")
            let question = "set the budget \(account.account) to \(amount) for the current \(account.span.rawValue)"
            try await change.make(account, question: question, limit: limit) { $0.limit = limit }
        }
    }

    struct ResetCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Counts what is used of a budget from zero again.",
            discussion: """
                Use it if the count is wrong, or if the provider has reset its quota. What workers have reserved stays
                reserved. The provider's own count does not change.
                """)

        @Argument(help: "An account, as locsearch budget lists it.", transform: BudgetChange.budget) var account: Budget
        @OptionGroup var change: BudgetChange

        func run() async throws {
            let question = "count the current \(account.span.rawValue) of \(account.account) from zero again"
            try await change.make(account, question: question) { $0.isReset = true }
        }
    }

    struct EstimateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "estimate", abstract: "Predicts the calls and the cost of a month, and makes no call.",
            discussion: """
                The SKU of each call follows from googlePlaces.fields, its price from prices.file or Google's list prices.
                A photo counts with its first call. Each page of a search is a request. Retries are not included.

                  locsearch budget estimate --requests 100000 --operation search
                  locsearch budget estimate --requests 200 --per day --operation photo --json
                """)

        @Option(help: "Number of requests, 1 to 1000000000.") var requests: Int
        @Option(help: "Period of that number: month, or day, of which a month has 31.") var per = "month"
        @Option(help: "search, details or photo.") var operation = SearchOperation.search.rawValue
        @Option(help: "google-places, google-places-legacy or hotpepper.", transform: ProviderID.init(argument:))
        var provider = ProviderID.googlePlaces
        @Flag(help: "The searches have a keyword, openNow or a pageToken: Google charges them as text searches.")
        var text = false
        @Flag(help: "Prints one JSON object per SKU and line.") var json = false
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            guard (1...1_000_000_000).contains(requests), SearchOperation(rawValue: operation) != nil,
                ["day", "month"].contains(per)
            else {
                throw ValidationError(
                    "--requests takes 1 to 1000000000, --operation search, details or photo, --per day or month")
            }
        }

        func run() async throws {
            let prices = try CallPrices(try await ToolSettings.load(options).settings)
            let request = SearchRequest(
                requestID: "estimate", operation: SearchOperation(rawValue: operation) ?? .search,
                keyword: text ? "text" : nil)
            let classes = prices.classes(of: request, at: provider)

            let calls = requests.saturatingMultiplied(by: per == "day" ? 31 : 1)
            let costs = prices.list.costs(of: classes.reduce(into: [:]) { $0[$1] = calls })
            let estimate = CostEstimate(prices: prices.list, costs: costs)
            for line in json ? estimate.json : estimate.text { Terminal.line(line) }
        }
    }
}

extension ProviderID {
    /// - Throws: `ValidationError` for the name of no provider.
    init(argument name: String) throws {
        guard let provider = ProviderID(rawValue: name) else {
            let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(name) is not a provider: expected one of \(names)")
        }
        self = provider
    }
}

/// The steps shared by the commands that change a budget.
struct BudgetChange: ParsableArguments {
    @Flag(help: "Does not ask for confirmation.") var yes = false
    @Flag(help: "Gives the order even if no running worker has this budget: it applies to workers that start later.")
    var force = false
    @OptionGroup var tool: ToolOptions

    @Sendable static func budget(_ account: String) throws -> Budget {
        guard let budget = Budget(account: account) else {
            let names = ProviderID.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                "\(account) is not an account: expected one that locsearch budget lists, which begins with \(names)")
        }
        return budget
    }

    /// Asks for confirmation, publishes the order, and shows the result.
    /// - Parameter limit: the ordered budget; `nil`: the order changes none.
    func make(
        _ budget: Budget, question: String, limit: Int? = nil, change: (inout BudgetMessage.Order) -> Void
    ) async throws {
        let (settings, log) = try await tool.load()
        let topic = try BudgetTopic(settings, timeout: tool.timeout.duration, log: log)
        // The first call also checks that the topic can be read before anything is written to it.
        func show() async throws -> BudgetReport {
            let report = try await topic.report(settings)
            for line in report.text { Terminal.line(line) }
            return report
        }
        let line = try await show().lines.first { $0.budget.account == budget.account }
        if let warning = line.flatMap({ $0.warning(of: limit) }) { Terminal.line(warning) }
        let keepers = try await requireKeepers(of: budget.account, settings: settings, topic: topic)
        guard yes || Terminal.confirms("\(question)?") else { throw Failure("nothing was changed") }

        // The user may have confirmed after midnight: the order applies to the current period.
        let time = Date(WallTime.now())
        let calendars = ProviderCalendars(settings.dayZones)
        guard let period = calendars.period(budget.span, of: budget.provider, at: time) else { return }
        var order = BudgetMessage.Order(budget.account, period: period.label, time: time.formatted(.iso8601))
        change(&order)
        let applied = try await topic.give(order, to: keepers, within: Self.timeToApply)
        Terminal.line()
        _ = try await show()
        guard applied < keepers else { return }
        throw Failure(
            """
            \(applied) of \(keepers) workers have acknowledged the order for \(period.label) within \
            \(Self.timeToApply.readable): check the others for a different \(budget.span.rawValue) (dayBegins, clocks), or no \
            permission to write to topics.fleet
            """)
    }

    /// Prints how many workers will apply the order.
    /// - Returns: the number of those workers.
    /// - Throws: if there are none, because the order would have no effect.
    private func requireKeepers(of account: String, settings: Settings, topic: BudgetTopic) async throws -> Int {
        let count = try await topic.countKeepers(of: account, within: Self.timeToAnswer)
        let group = settings.text("kafka.groupId")
        guard count > 0 || force else {
            throw Failure(
                """
                0 workers of the group \(group) have the budget \(account), so nothing was changed: set \
                providers.<name>.budgets (or callsPerDay) for the workers, or start them; --force gives the order to \
                workers that start later in the period
                """)
        }
        Terminal.note("\(count) \(count == 1 ? "worker has" : "workers have") the budget \(account)")
        return count
    }

    /// Members read the fleet topic five times a second.
    private static let timeToAnswer = Duration.seconds(2)
    private static let timeToApply = Duration.seconds(5)
}

extension BudgetTopic {
    func report(_ settings: Settings) async throws -> BudgetReport {
        BudgetReport(
            try await ledger(), budgets: settings.budgets, calendars: ProviderCalendars(settings.dayZones),
            prices: try settings.prices(), at: Date(WallTime.now()))
    }
}
