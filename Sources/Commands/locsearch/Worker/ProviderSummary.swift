import LocationSearch
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

    /// True when a further worker could ask the provider for more: see `ProviderStatus.isAskable`.
    var isAskable: Bool { loops.contains(where: \.isAskable) }

    /// The calls per second that this process may make at present; `nil` without a limit.
    var allowedPerSecond: Double? {
        let rates = loops.compactMap(\.allowedPerSecond)
        return rates.isEmpty ? nil : rates.reduce(0, +)
    }

    /// Why the breaker is not closed; a person's order comes first, then what concerns the key.
    var breakerReason: CircuitBreaker.Reason? {
        let reasons = loops.compactMap(\.breakerReason)
        return reasons.first { $0 == .pausedByOrder } ?? reasons.first(where: \.concernsKey) ?? reasons.first
    }

    /// Returns why no provider can be asked, if their keys are refused or used up; `nil` when one can be asked.
    /// - Parameters:
    ///   - automatic: the configured providers that `auto` asks. Others count once a request has named them.
    ///   - pause: says by whom a provider is paused; `nil` for one that is not.
    static func problem(
        of all: [ProviderSummary], automatic: [ProviderID], pause: (ProviderID) -> String? = { _ in nil }
    ) -> String? {
        var problems: [String] = []
        for summary in inUse(all, automatic: automatic) {
            guard let reason = summary.breakerReason, reason.concernsKey || reason == .pausedByOrder else { return nil }
            problems.append("\(summary.provider.rawValue): \(pause(summary.provider) ?? reason.rawValue)")
        }
        return problems.isEmpty ? nil : "no provider can be asked: " + problems.joined(separator: ", ")
    }

    /// Returns the providers that requests go to: those that `auto` asks, and those that a request has named.
    static func inUse(_ all: [ProviderSummary], automatic: [ProviderID]) -> [ProviderSummary] {
        let summaries = Dictionary(all.map { ($0.provider, $0) }, uniquingKeysWith: { first, _ in first })
        return automatic.compactMap { summaries[$0] }
            + all.filter { $0.sum(\.calls) > 0 && !automatic.contains($0.provider) }
    }

    func sum(_ value: (ProviderStatus) -> Int) -> Int { loops.reduce(0) { $0 + value($1) } }

    /// The day's budget as the loop knows it that has read most of the log; `nil` without a budget, and before the log is read.
    var budget: BudgetStatus? {
        loops.compactMap(\.budget).filter { $0.day != nil }.max { ($0.day ?? "", $0.used) < ($1.day ?? "", $1.used) }
    }
}
