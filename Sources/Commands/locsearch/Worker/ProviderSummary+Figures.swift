import JSON
import LocationSearch
import ProviderCalls
import QuotaSharing
import Resilience

/// The figures of a provider in `/status` and `/metrics`.
extension ProviderSummary {
    private typealias ProviderFigure = Figure<ProviderSummary>

    // MARK: - Shared figures

    private static let breakerState = ProviderFigure(member: "breaker", metric: "breaker_state") {
        .choice($0.breaker.rawValue, of: CircuitBreaker.State.allCases.map(\.rawValue), label: "state")
    }
    private static let breakerReasons = ProviderFigure(member: "breakerReason", metric: "breaker_reason") {
        .choice($0.breakerReason?.rawValue, of: CircuitBreaker.Reason.allCases.map(\.rawValue), label: "reason")
    }
    private static let heldRequests = count(member: "heldRequests", metric: "requests_held") { $0.held }
    private static let inFlight = count(member: "inFlight", metric: "concurrency_in_flight") { $0.concurrency.inFlight }
    private static let concurrencyLimit = count(member: "concurrencyLimit", metric: "concurrency_limit") {
        $0.concurrency.limit
    }
    private static let rateLimit = ProviderFigure(member: "allowedPerSecond", metric: "rate_limit") {
        $0.allowedPerSecond.map { .number($0) }
    }
    private static let waitingForRate = count(member: "waitingForRate", metric: "rate_waiting") {
        $0.rateLimiter.waiting
    }
    private static let calls = count(member: "calls", metric: "calls_total") { $0.calls }
    private static let retries = count(member: "retries", metric: "retries_total") { $0.retries.retries }
    private static let sharedCalls = count(member: "sharedCalls", metric: "calls_shared_total") { $0.shared }

    /// The figures of the whole fleet's budget, which are the same in every worker.
    private static let budgetFigures: [Figure<BudgetStatus>] = [
        Figure(member: "calls", metric: "calls") { .count($0.calls) },
        Figure(member: "used", metric: "used_calls") { .count($0.used) },
        Figure(member: "reserved", metric: "reserved_calls") { .count($0.reserved) },
        Figure(member: "left", metric: "left_calls") { .count($0.left) },
        Figure(member: "kept", metric: "kept_calls") { .count($0.kept) },
    ]

    /// Returns a figure that is the sum over all loops.
    private static func count(
        member: StaticString? = nil, metric: String? = nil, value: @escaping @Sendable (ProviderStatus) -> Int
    ) -> ProviderFigure {
        ProviderFigure(member: member, metric: metric) { .count($0.sum(value)) }
    }

    // MARK: - Status

    /// The figures in `/status`, in their order.
    private static let statusFigures: [ProviderFigure] = [
        breakerState, breakerReasons,
        Figure(member: "openForSeconds") { longest($0.loops.compactMap(\.openFor)) },
        heldRequests, inFlight, concurrencyLimit,
        count(member: "waitingForConcurrency") { $0.concurrency.waiting },
        rateLimit,
        Figure(member: "pausedForSeconds") { longest($0.loops.compactMap(\.pausedFor)) },
        waitingForRate, calls, retries, sharedCalls,
    ]

    private static func longest(_ times: [Duration]) -> ProviderFigure.Value? {
        times.max().map { .number($0 / .seconds(1)) }
    }

    /// Writes the members of the provider's object in `/status`.
    func write(to json: inout JSONWriter) {
        json.member("provider", provider.rawValue)
        for figure in Self.statusFigures { figure.write(self, to: &json) }
        if let budget { Self.write(budget, to: &json) }
    }

    private static func write(_ budget: BudgetStatus, to json: inout JSONWriter) {
        json.object("budget") { json in
            json.member("day", budget.day)
            for figure in budgetFigures { figure.write(budget, to: &json) }
            json.member("since", budget.since)
            json.member("problem", budget.isFull ? "the fleet uses too many API keys" : nil)
            json.member("made", calls: budget.made)
        }
    }

    // MARK: - Metrics

    /// The figures in `/metrics`, in their order, before and after those of the budget.
    private static let metricFigures: (first: [ProviderFigure], last: [ProviderFigure]) = (
        first: [
            breakerState, breakerReasons,
            count(metric: "breaker_openings_total") { $0.breakerCounts.openings },
            count(metric: "breaker_rejections_total") { $0.breakerCounts.rejected },
            calls,
            count(metric: "calls_failed_total") { $0.breakerCounts.failures },
            heldRequests, retries,
            count(metric: "retries_refused_total") { $0.retries.refused },
            count(metric: "rate_waits_total") { $0.rateLimiter.waited },
            waitingForRate, rateLimit,
        ],
        last: [
            Figure(metric: "askable") { .count($0.isAskable ? 1 : 0) },
            count(metric: "rate_refusals_total") { $0.rateLimiter.refused },
            concurrencyLimit, inFlight,
            count(metric: "concurrency_refusals_total") { $0.concurrency.refused },
            sharedCalls,
        ]
    )

    /// Returns the metrics of all providers.
    static func prometheusText(_ all: [ProviderSummary]) -> String {
        let providers = all.map { (label: ("provider", $0.provider.rawValue), subject: $0) }
        let budgets = all.compactMap { summary in
            summary.budget.map { (label: ("provider", summary.provider.rawValue), subject: $0) }
        }
        func text(_ figures: [ProviderFigure]) -> String {
            figures.map { $0.family(prefix: "locsearch_provider_", of: providers) }.joined()
        }

        return text(metricFigures.first)
            + budgetFigures.map { $0.family(prefix: "locsearch_provider_budget_", of: budgets) }.joined()
            + text(metricFigures.last)
    }
}
