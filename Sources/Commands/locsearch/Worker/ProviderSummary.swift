import LocationSearch
import ProviderCalls
import QuotaSharing
import Resilience

/// The combined state of one provider in all loops of this process.
struct ProviderSummary: Sendable {
    let provider: ProviderID
    let loops: [ProviderStatus]

    static func all(_ statuses: [ProviderStatus]) -> [ProviderSummary] {
        Dictionary(grouping: statuses, by: \.provider)
            .map { ProviderSummary(provider: $0.key, loops: $0.value) }
            .sorted { $0.provider.rawValue < $1.provider.rawValue }
    }

    /// The worst state in any loop.
    var breaker: CircuitBreaker.State {
        [.open, .halfOpen, .paused].first { state in loops.contains { $0.breaker == state } } ?? .closed
    }

    /// True if an additional worker could make more calls to the provider: see `ProviderStatus.isAskable`.
    var isAskable: Bool { loops.contains(where: \.isAskable) }

    /// The calls per second that this process may make now; `nil` without a limit.
    var allowedPerSecond: Double? {
        let rates = loops.compactMap(\.allowedPerSecond)
        return rates.isEmpty ? nil : rates.reduce(0, +)
    }

    /// Why the breaker is not closed. A pause by an order takes precedence, then reasons about the key.
    var breakerReason: CircuitBreaker.Reason? {
        let reasons = loops.compactMap(\.breakerReason)
        return reasons.first { $0 == .pausedByOrder } ?? reasons.first(where: \.concernsKey) ?? reasons.first
    }

    /// Returns why no provider can be called, if all are paused or their keys are refused or used up; `nil` if one can
    /// be called.
    /// - Parameters:
    ///   - automatic: the configured providers that `auto` uses. Other providers count once a request has named them.
    ///   - pause: describes who paused a provider; `nil` if it is not paused.
    static func problem(
        of all: [ProviderSummary], automatic: [ProviderID], pause: (ProviderID) -> String? = { _ in nil }
    ) -> String? {
        var problems: [String] = []
        for summary in inUse(all, automatic: automatic) {
            let reason = summary.breaker == .halfOpen ? nil : summary.breakerReason
            guard let reason, reason.concernsKey || reason == .pausedByOrder else { return nil }
            problems.append("\(summary.provider.rawValue): \(pause(summary.provider) ?? reason.rawValue)")
        }
        return problems.isEmpty ? nil : "no provider is available: " + problems.joined(separator: ", ")
    }

    /// Returns the providers that requests use: those that `auto` uses, and those that a request has named.
    static func inUse(_ all: [ProviderSummary], automatic: [ProviderID]) -> [ProviderSummary] {
        let summaries = Dictionary(all.map { ($0.provider, $0) }, uniquingKeysWith: { first, _ in first })
        return automatic.compactMap { summaries[$0] }
            + all.filter { $0.sum(\.calls) > 0 && !automatic.contains($0.provider) }
    }

    func sum(_ value: (ProviderStatus) -> Int) -> Int { loops.reduce(0) { $0 + value($1) } }

    /// Each budget, as known to the loop that has read most of the fleet topic; none before the topic is read.
    var budgets: [BudgetStatus] {
        let known = Dictionary(grouping: loops.flatMap(\.budgets).filter { $0.period != nil }, by: \.budget.account)
        return known.sorted { $0.key < $1.key }.compactMap { _, statuses in
            statuses.max { ($0.period ?? "", $0.used) < ($1.period ?? "", $1.used) }
        }
    }
}
