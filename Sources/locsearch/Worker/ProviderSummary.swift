import JSON
import LocationSearch
import Observability
import ProviderCalls
import QuotaSharing
import Resilience

/// How one provider fares in this process: its loops taken together.
struct ProviderSummary: Sendable {
    let provider: ProviderID
    let loops: [ProviderStatus]

    static func all(_ statuses: [ProviderStatus]) -> [ProviderSummary] {
        Dictionary(grouping: statuses, by: \.provider)
            .map { ProviderSummary(provider: $0.key, loops: $0.value) }
            .sorted { $0.provider.rawValue < $1.provider.rawValue }
    }

    /// The worst that a loop sees.
    var breaker: CircuitBreaker.State {
        [.open, .halfOpen, .paused].first { state in loops.contains { $0.breaker == state } } ?? .closed
    }

    /// Whether a further worker could ask the provider for more: see `ProviderStatus.isAskable`.
    var isAskable: Bool { loops.contains(where: \.isAskable) }

    /// The calls per second that this process may make at present; `nil` without a limit.
    private var allowedPerSecond: Double? {
        let rates = loops.compactMap(\.allowedPerSecond)
        return rates.isEmpty ? nil : rates.reduce(0, +)
    }

    /// Why the breaker is not closed; what concerns the key comes first.
    var breakerReason: CircuitBreaker.Reason? {
        let reasons = loops.compactMap(\.breakerReason)
        return reasons.first(where: \.concernsKey) ?? reasons.first
    }

    /// Returns why no provider can be asked, if their keys are refused or used up; `nil` when one can be asked.
    /// - Parameter automatic: the configured providers that `auto` asks. Others count once a request has named them.
    static func problem(of all: [ProviderSummary], automatic: [ProviderID]) -> String? {
        var problems: [String] = []
        for summary in inUse(all, automatic: automatic) {
            guard let reason = summary.breakerReason, reason.concernsKey else { return nil }
            problems.append("\(summary.provider.rawValue): \(reason.rawValue)")
        }
        return problems.isEmpty ? nil : "no provider can be asked: " + problems.joined(separator: ", ")
    }

    /// Returns the providers that requests go to: those that `auto` asks, and those that a request has named.
    static func inUse(_ all: [ProviderSummary], automatic: [ProviderID]) -> [ProviderSummary] {
        let summaries = Dictionary(all.map { ($0.provider, $0) }, uniquingKeysWith: { first, _ in first })
        return automatic.compactMap { summaries[$0] }
            + all.filter { $0.sum(\.calls) > 0 && !automatic.contains($0.provider) }
    }

    private func sum(_ value: (ProviderStatus) -> Int) -> Int { loops.reduce(0) { $0 + value($1) } }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("provider", provider.rawValue)
        json.member("breaker", breaker.rawValue)
        json.member("breakerReason", breakerReason?.rawValue)
        json.member("openForSeconds", loops.compactMap(\.openFor).max().map { $0 / .seconds(1) })
        json.member("heldRequests", sum(\.held))
        json.member("inFlight", sum(\.concurrency.inFlight))
        json.member("concurrencyLimit", sum(\.concurrency.limit))
        json.member("waitingForConcurrency", sum(\.concurrency.waiting))
        json.member("allowedPerSecond", allowedPerSecond)
        json.member("pausedForSeconds", loops.compactMap(\.pausedFor).max().map { $0 / .seconds(1) })
        json.member("waitingForRate", sum(\.rateLimiter.waiting))
        json.member("calls", sum(\.calls))
        json.member("retries", sum(\.retries.retries))
        json.member("sharedCalls", sum(\.shared))
        if let budget { Self.write(budget, to: &json) }
        json.endObject()
    }

    /// The day's budget as the loop knows it that has read most of the log; `nil` without a budget, and before the log is read.
    var budget: BudgetStatus? {
        loops.compactMap(\.budget).filter { $0.day != nil }.max { ($0.day ?? "", $0.used) < ($1.day ?? "", $1.used) }
    }

    private static func write(_ budget: BudgetStatus, to json: inout JSONWriter) {
        json.key("budget")
        json.beginObject()
        json.member("day", budget.day)
        json.member("calls", budget.calls)
        json.member("used", budget.used)
        json.member("reserved", budget.reserved)
        json.member("left", budget.left)
        json.member("since", budget.since)
        json.member("made", calls: budget.made)
        json.endObject()
    }

    // MARK: - Metrics

    /// What the whole fleet has of each day's budget: every worker shows the same.
    private static func budgetText(_ all: [ProviderSummary]) -> String {
        func family(_ name: String, _ value: (BudgetStatus) -> Int) -> String {
            PrometheusText.family(
                "locsearch_provider_budget_" + name,
                all.compactMap { summary in
                    summary.budget.map { (labels: [("provider", summary.provider.rawValue)], value: Double(value($0))) }
                })
        }
        return family("calls", \.calls) + family("used_calls", \.used) + family("reserved_calls", \.reserved)
            + family("left_calls", \.left)
    }

    static func prometheusText(_ all: [ProviderSummary]) -> String {
        func family(_ name: String, _ value: (ProviderSummary) -> Int) -> String {
            PrometheusText.family(
                "locsearch_provider_" + name,
                all.map { (labels: [("provider", $0.provider.rawValue)], value: Double(value($0))) })
        }
        typealias Sample = (labels: [(String, String)], value: Double)
        let states = all.flatMap { summary in
            CircuitBreaker.State.allCases.map { state -> Sample in
                let labels = [("provider", summary.provider.rawValue), ("state", state.rawValue)]
                return (labels: labels, value: summary.breaker == state ? 1 : 0)
            }
        }
        let reasons = all.flatMap { summary in
            CircuitBreaker.Reason.allCases.map { reason -> Sample in
                let labels = [("provider", summary.provider.rawValue), ("reason", reason.rawValue)]
                return (labels: labels, value: summary.breakerReason == reason ? 1 : 0)
            }
        }

        return PrometheusText.family("locsearch_provider_breaker_state", states)
            + PrometheusText.family("locsearch_provider_breaker_reason", reasons)
            + family("breaker_openings_total") { $0.sum(\.breakerCounts.openings) }
            + family("breaker_rejections_total") { $0.sum(\.breakerCounts.rejected) }
            + family("calls_total") { $0.sum(\.calls) }
            + family("calls_failed_total") { $0.sum(\.breakerCounts.failures) }
            + family("requests_held") { $0.sum(\.held) }
            + family("retries_total") { $0.sum(\.retries.retries) }
            + family("retries_refused_total") { $0.sum(\.retries.refused) }
            + family("rate_waits_total") { $0.sum(\.rateLimiter.waited) }
            + family("rate_waiting") { $0.sum(\.rateLimiter.waiting) }
            + PrometheusText.family(
                "locsearch_provider_rate_limit",
                all.compactMap { summary in
                    summary.allowedPerSecond.map { (labels: [("provider", summary.provider.rawValue)], value: $0) }
                })
            + budgetText(all)
            + family("askable") { $0.isAskable ? 1 : 0 }
            + family("rate_refusals_total") { $0.sum(\.rateLimiter.refused) }
            + family("concurrency_limit") { $0.sum(\.concurrency.limit) }
            + family("concurrency_in_flight") { $0.sum(\.concurrency.inFlight) }
            + family("concurrency_refusals_total") { $0.sum(\.concurrency.refused) }
            + family("calls_shared_total") { $0.sum(\.shared) }
    }
}
