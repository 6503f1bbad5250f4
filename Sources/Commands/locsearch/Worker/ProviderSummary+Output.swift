import Basics
import JSON
import LocationSearch
import Observability
import ProviderCalls
import QuotaSharing
import Resilience

/// The state of the providers in `/status` and `/metrics`.
extension ProviderSummary {
    // MARK: - Status

    /// Writes the members of the provider's object in `/status`.
    func write(to json: inout JSONWriter) {
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
        guard !budgets.isEmpty else { return }
        json.objects("budgets", of: budgets) { status, json in
            json.member("account", status.budget.account)
            json.member("unit", status.budget.unitName)
            json.member("period", status.period)
            json.member("endsInSeconds", status.timeLeft / .seconds(1))
            json.member("budget", status.limit)
            json.member("used", status.used)
            json.member("reserved", status.reserved)
            json.member("left", status.left)
            json.member("kept", status.kept)
            json.member("warning", status.budget.warning)
            json.member("since", status.since)
            json.member("made", calls: status.made)
        }
    }

    // MARK: - Metrics

    /// Returns the metrics of all providers.
    static func prometheusText(_ all: [ProviderSummary]) -> String {
        func family(_ name: String, _ value: (ProviderSummary) -> Double?) -> String {
            PrometheusText.family(
                "locsearch_provider_" + name,
                all.compactMap { summary in
                    value(summary).map { (labels: [("provider", summary.provider.rawValue)], value: $0) }
                })
        }
        func count(_ name: String, _ value: (ProviderStatus) -> Int) -> String {
            family(name) { Double($0.sum(value)) }
        }
        func budget(_ name: String, _ value: (BudgetStatus) -> Double) -> String {
            PrometheusText.family(
                "locsearch_provider_budget" + name,
                all.flatMap { summary in
                    summary.budgets.map { status in
                        let labels = [
                            ("provider", summary.provider.rawValue), ("account", status.budget.account),
                            ("unit", status.budget.unitName),
                        ]
                        return (labels: labels, value: value(status))
                    }
                })
        }
        func amount(_ name: String, _ units: @escaping (BudgetStatus) -> Int) -> String {
            budget(name) { $0.budget.value(of: units($0)) }
        }

        return states(of: all) + count("calls_total", \.calls) + count("requests_held", \.held)
            + count("retries_total", \.retries.retries) + count("retries_refused_total", \.retries.refused)
            + family("rate_limit", \.allowedPerSecond)
            + amount("", \.limit) + amount("_used", \.used) + amount("_reserved", \.reserved) + amount("_left", \.left)
            + budget("_ends_in_seconds") { $0.timeLeft.inSeconds }
            + family("askable") { $0.isAskable ? 1 : 0 } + count("rate_refusals_total", \.rateLimiter.refused)
            + count("concurrency_limit", \.concurrency.limit)
            + count("concurrency_in_flight", \.concurrency.inFlight)
            + count("concurrency_refusals_total", \.concurrency.refused) + count("calls_shared_total", \.shared)
    }

    /// Returns the states of the breakers and their reasons. There is a series for each possible one; its value is 1 for
    /// the current one.
    private static func states(of all: [ProviderSummary]) -> String {
        func family(_ label: String, _ names: [String], current: (ProviderSummary) -> String?) -> String {
            PrometheusText.family(
                "locsearch_provider_breaker_" + label,
                all.flatMap { summary in
                    let current = current(summary)
                    return names.map { name -> (labels: [(String, String)], value: Double) in
                        (
                            labels: [("provider", summary.provider.rawValue), (label, name)],
                            value: name == current ? 1 : 0
                        )
                    }
                })
        }
        return family("state", CircuitBreaker.State.allCases.map(\.rawValue)) { $0.breaker.rawValue }
            + family("reason", CircuitBreaker.Reason.allCases.map(\.rawValue)) { $0.breakerReason?.rawValue }
    }
}
