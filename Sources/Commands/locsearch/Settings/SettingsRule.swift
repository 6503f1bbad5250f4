import Foundation
import LocationSearch
import QuotaSharing
import WorkerRuntime

/// A rule that cannot be checked for one value alone: settings must be consistent, or a file that a setting names must
/// be readable.
struct SettingsRule: Sendable {
    /// The settings that the rule reads. A name that ends with a dot stands for all settings with that prefix.
    let settings: [String]
    private let check: @Sendable (Settings) throws(SettingsError) -> Void

    init(_ settings: [String], _ check: @escaping @Sendable (Settings) throws(SettingsError) -> Void) {
        self.settings = settings
        self.check = check
    }

    /// Returns how the rule is broken; `nil` if it is not.
    func mistake(in settings: Settings) -> SettingsError? {
        do throws(SettingsError) {
            try check(settings)
            return nil
        } catch {
            return error
        }
    }
}

extension SettingsRule {
    /// The rules for every program that reads settings.
    static let all: [SettingsRule] =
        [
            SettingsRule(["worker.loops", "worker.concurrency"], checkLoops),
            SettingsRule(["worker.deadline", "worker.maxDeadline"], checkDeadlines),
            SettingsRule(
                ["worker.fairBy", "worker.ordering", "worker.doneSetBytes", "topics.requests"], checkFairness),
            SettingsRule(
                Settings.providerNames.flatMap { provider in
                    ["callsPerDay", "callsPerDayReserved", "budgets"].map { "providers.\(provider.name).\($0)" }
                }, checkBudgets),
            SettingsRule(["topics."]) { (settings) throws(SettingsError) in try settings.requireSeparateTopics() },
            SettingsRule(["kafka.groupProtocol", "kafka.properties"], checkGroupProtocol),
            // For TLS and logins only the first mistake is reported, because the next one usually follows from it.
            SettingsRule(["kafka.security.", "kafka.properties"]) { (settings) throws(SettingsError) in
                _ = try settings.security()
            },
            SettingsRule(["googlePlaces.apiKey", "googlePlaces.apiKeyFile"]) { (settings) throws(SettingsError) in
                _ = try settings.googleKey()
            },
            SettingsRule(["hotpepper.apiKey", "hotpepper.apiKeyFile"]) { (settings) throws(SettingsError) in
                _ = try settings.hotpepperKey()
            },
            SettingsRule(["prices.file"]) { (settings) throws(SettingsError) in _ = try settings.prices() },
            SettingsRule(["tracing.uiURL"]) { (settings) throws(SettingsError) in _ = try settings.traceLink() },
            SettingsRule(["admin.token", "admin.tokenFile"]) { (settings) throws(SettingsError) in
                _ = try settings.adminToken()
            },
        ] + files.map { readable($0) }

    /// The rules for a worker, which also needs a usable provider.
    static let ofWorker =
        all + [
            SettingsRule(["googlePlaces.", "hotpepper.", "providers.order"], checkProviders),
            SettingsRule(["topics.requests", "providers."]) { (settings) throws(SettingsError) in
                try settings.requireSharesWithSeveralTopics()
            },
        ]

    private static let files = [
        "kafka.security.caFile", "kafka.security.certificateFile", "kafka.security.keyFile", "http.caFile",
    ]

    private static func readable(_ name: String) -> SettingsRule {
        SettingsRule([name]) { (settings) throws(SettingsError) in
            guard let path = settings[name], let problem = SettingsFile.problem(at: path) else { return }
            throw SettingsError("\(name): \(problem)")
        }
    }

    @Sendable private static func checkLoops(_ settings: Settings) throws(SettingsError) {
        let loops = settings.integer("worker.loops")
        guard loops > settings.integer("worker.concurrency") else { return }
        throw SettingsError(
            "worker.loops is \(loops): expected at most worker.concurrency (\(settings.text("worker.concurrency")))")
    }

    @Sendable private static func checkDeadlines(_ settings: Settings) throws(SettingsError) {
        guard let deadline = settings.duration("worker.deadline"),
            let longest = settings.duration("worker.maxDeadline"),
            deadline > longest
        else { return }
        throw SettingsError(
            "worker.deadline is \(deadline.text): expected at most worker.maxDeadline (\(longest.text))")
    }

    /// Checks the settings that let requests overtake others. Without done-sets, the next owner of a partition would
    /// repeat all of those. Requests bound to an order cannot overtake each other.
    @Sendable private static func checkFairness(_ settings: Settings) throws(SettingsError) {
        let worker = settings.worker()
        guard worker.ordersRequests else { return }
        guard worker.doneSetBytes > 0 else {
            throw SettingsError(
                "worker.doneSetBytes is 0, which classes and worker.fairBy do not allow: a crash would repeat every request that overtook another; leave it at 4096"
            )
        }

        let isBound =
            switch (worker.ordering, worker.flows.fairBy) {
            case (.unordered, _), (_, .none), (.key, .key): false
            case (.key, _), (.partition, _): true
            }
        guard isBound else { return }
        throw SettingsError(
            "worker.fairBy=\(settings.text("worker.fairBy")) cannot be combined with worker.ordering=\(worker.ordering.rawValue): ordered requests cannot overtake each other; use worker.fairBy=\(worker.ordering == .key ? "key or none" : "none")"
        )
    }

    @Sendable private static func checkBudgets(_ settings: Settings) throws(SettingsError) {
        for (provider, name) in Settings.providerNames {
            let prefix = "providers.\(name)."
            let calls = prefix + "callsPerDay"
            let reserve = BudgetReserve(text: settings.text(calls + "Reserved"))
            if settings[calls] == nil, reserve?.isNone == false {
                throw SettingsError("\(calls)Reserved is set without a budget: expected \(calls) to be set")
            }

            var accounts: Set<String> = []
            for budget in settings.budgets where budget.provider == provider {
                guard accounts.insert(budget.account).inserted else {
                    throw SettingsError("\(prefix)budgets has two budgets for \(budget.account): expected one")
                }
                if case .units(let kept) = budget.reserve, kept > (budget.unit == .calls ? budget.limit : 0) {
                    throw SettingsError(
                        "\(prefix)budgets keeps \(kept) for interactive requests of \(budget.account): expected at most \(budget.text(of: budget.limit)), or a percentage"
                    )
                }
                try check(budget, of: prefix + "budgets", settings)
            }
        }
    }

    private static func check(_ budget: Budget, of name: String, _ settings: Settings) throws(SettingsError) {
        if case .priceClass(let priceClass) = budget.scope, priceClass.provider != budget.provider {
            let classes = PriceClass.allCases.filter { $0.provider == budget.provider }.map(\.rawValue)
            throw SettingsError(
                "\(name): \(priceClass.rawValue) is no price class of \(budget.provider.rawValue): expected all or one of \(classes.joined(separator: ", "))"
            )
        }
        guard case .money(let currency) = budget.unit else { return }
        guard let prices = try? settings.prices() else { return }  // reported by the rule of prices.file
        // A call without a known price would not count.
        let unpriced = PriceClass.allCases.first { $0.provider == budget.provider && !prices.hasPrice($0) }
        guard unpriced == nil, currency == prices.currency else {
            throw SettingsError(
                "\(name): there is no price in \(currency) for \(unpriced?.rawValue ?? budget.provider.rawValue): expected a number of calls, or prices in prices.file"
            )
        }
    }

    @Sendable private static func checkGroupProtocol(_ settings: Settings) throws(SettingsError) {
        guard !settings.isDefault("kafka.groupProtocol"), settings.properties["group.protocol"] != nil else { return }
        throw SettingsError(
            "\(settings.place(of: "kafka.groupProtocol")) and group.protocol in \(settings.place(of: "kafka.properties")) are both set: use one of them"
        )
    }

    /// Refuses settings with which `auto` could use no provider. Every request would end as `unauthorized`, and a whole
    /// backlog would be lost that way within seconds.
    @Sendable private static func checkProviders(_ settings: Settings) throws(SettingsError) {
        let configured: [ProviderID]
        do throws(SettingsError) {
            configured = try settings.configuredProviders()
        } catch {
            // Another rule reports a key that cannot be read.
            return
        }
        guard !configured.isEmpty else {
            throw SettingsError(
                "no provider has an API key: set hotpepper.apiKey or googlePlaces.apiKey (or hotpepper.apiKeyFile,"
                    + " googlePlaces.apiKeyFile)")
        }
        guard settings.providerOrder().allSatisfy({ !configured.contains($0) }) else { return }
        let names = configured.map(\.rawValue).joined(separator: ", ")
        throw SettingsError(
            "providers.order is \"\(settings.text("providers.order"))\", but only \(names) has an API key: list a"
                + " provider that has a key, or set the key of a listed one")
    }
}
