import JSON
import LocationSearch
import QuotaSharing
import Testing

@testable import ProviderCalls
@testable import Resilience
@testable import locsearch

/// The providers in `/status` and `/metrics`. Dashboards and alerts read both, so the whole texts are compared.
struct ProviderSummaryTests {
    /// One loop's state, with different values for all figures.
    private static func status(
        of provider: ProviderID, breaker: CircuitBreaker.State = .closed, reason: CircuitBreaker.Reason? = nil
    ) -> ProviderStatus {
        var rate = RateBucket.Statistics()
        (rate.admitted, rate.refused, rate.waiting) = (8, 10, 12)
        var concurrency = ConcurrencyLimit.Statistics()
        (concurrency.limit, concurrency.inFlight, concurrency.waiting, concurrency.refused) = (13, 14, 15, 18)
        return ProviderStatus(
            provider: provider, breaker: breaker, breakerReason: reason, openFor: nil,
            allowedPerSecond: nil, pausedFor: nil,
            rateLimiter: rate, sharesRate: true, concurrency: concurrency,
            retries: RetryBudget.Statistics(requests: 20, retries: 21, refused: 22), calls: 23, shared: 24, held: 25,
            budget: nil)
    }

    /// Two loops with all possible figures of a provider, and one loop with as few as possible.
    private static var summaries: [ProviderSummary] {
        var budget = BudgetStatus(nil)
        (budget.day, budget.calls, budget.since) = ("2026-11-23", 3000, "2026-11-23T09:00:00Z")
        (budget.made, budget.reserved, budget.left) = (["search/hotpepper": 1200, "photo/photo": 60], 140, 1600)
        budget.kept = 300

        var busy = status(of: .hotpepper, breaker: .open, reason: .failureRate)
        (busy.openFor, busy.pausedFor, busy.allowedPerSecond) = (.milliseconds(1500), .seconds(3), 0.1)
        busy.budget = budget
        var other = status(of: .hotpepper)
        other.allowedPerSecond = 2.5
        return ProviderSummary.all([busy, status(of: .googlePlaces), other])
    }

    @Test func `The status shows each figure of a provider`() {
        var json = JSONWriter(capacity: 1024)
        json.beginArray()
        for summary in Self.summaries { json.object { summary.write(to: &$0) } }
        json.endArray()

        #expect(
            String(decoding: json.finish(), as: UTF8.self) == #"""
                [{"provider":"google-places","breaker":"closed","heldRequests":25,"inFlight":14,"concurrencyLimit":13,\#
                "waitingForConcurrency":15,"waitingForRate":12,"calls":23,"retries":21,"sharedCalls":24},\#
                {"provider":"hotpepper","breaker":"open","breakerReason":"failure-rate","openForSeconds":1.5,\#
                "heldRequests":50,"inFlight":28,"concurrencyLimit":26,\#
                "waitingForConcurrency":30,"allowedPerSecond":2.6,"pausedForSeconds":3,"waitingForRate":24,\#
                "calls":46,"retries":42,"sharedCalls":48,\#
                "budget":{"day":"2026-11-23","calls":3000,"used":1260,"reserved":140,"left":1600,"kept":300,\#
                "since":"2026-11-23T09:00:00Z",\#
                "made":[{"operation":"photo","sku":"photo","calls":60},{"operation":"search","sku":"hotpepper",\#
                "calls":1200}]}}]
                """#)
    }

    @Test func `The metrics show each figure of a provider`() {
        // The line before each type is the help of docs/metrics.md.
        let lines = ProviderSummary.prometheusText(Self.summaries).split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("# HELP") } == lines.count { $0.hasPrefix("# TYPE") })
        #expect(
            lines.filter { !$0.hasPrefix("# HELP") }.joined(separator: "\n") == #"""
                # TYPE locsearch_provider_breaker_state gauge
                locsearch_provider_breaker_state{provider="google-places",state="closed"} 1
                locsearch_provider_breaker_state{provider="google-places",state="open"} 0
                locsearch_provider_breaker_state{provider="google-places",state="half-open"} 0
                locsearch_provider_breaker_state{provider="google-places",state="paused"} 0
                locsearch_provider_breaker_state{provider="hotpepper",state="closed"} 0
                locsearch_provider_breaker_state{provider="hotpepper",state="open"} 1
                locsearch_provider_breaker_state{provider="hotpepper",state="half-open"} 0
                locsearch_provider_breaker_state{provider="hotpepper",state="paused"} 0
                # TYPE locsearch_provider_breaker_reason gauge
                locsearch_provider_breaker_reason{provider="google-places",reason="failure-rate"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="slow-call-rate"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="probes-failed"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="key-refused"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="quota-used-up"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="budget-used-up"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="provider-rate-limit"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="provider-unavailable"} 0
                locsearch_provider_breaker_reason{provider="google-places",reason="paused-by-order"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="failure-rate"} 1
                locsearch_provider_breaker_reason{provider="hotpepper",reason="slow-call-rate"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="probes-failed"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="key-refused"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="quota-used-up"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="budget-used-up"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="provider-rate-limit"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="provider-unavailable"} 0
                locsearch_provider_breaker_reason{provider="hotpepper",reason="paused-by-order"} 0
                # TYPE locsearch_provider_calls_total counter
                locsearch_provider_calls_total{provider="google-places"} 23
                locsearch_provider_calls_total{provider="hotpepper"} 46
                # TYPE locsearch_provider_requests_held gauge
                locsearch_provider_requests_held{provider="google-places"} 25
                locsearch_provider_requests_held{provider="hotpepper"} 50
                # TYPE locsearch_provider_retries_total counter
                locsearch_provider_retries_total{provider="google-places"} 21
                locsearch_provider_retries_total{provider="hotpepper"} 42
                # TYPE locsearch_provider_retries_refused_total counter
                locsearch_provider_retries_refused_total{provider="google-places"} 22
                locsearch_provider_retries_refused_total{provider="hotpepper"} 44
                # TYPE locsearch_provider_rate_limit gauge
                locsearch_provider_rate_limit{provider="hotpepper"} 2.6
                # TYPE locsearch_provider_budget_calls gauge
                locsearch_provider_budget_calls{provider="hotpepper"} 3000
                # TYPE locsearch_provider_budget_used_calls gauge
                locsearch_provider_budget_used_calls{provider="hotpepper"} 1260
                # TYPE locsearch_provider_budget_reserved_calls gauge
                locsearch_provider_budget_reserved_calls{provider="hotpepper"} 140
                # TYPE locsearch_provider_budget_left_calls gauge
                locsearch_provider_budget_left_calls{provider="hotpepper"} 1600
                # TYPE locsearch_provider_askable gauge
                locsearch_provider_askable{provider="google-places"} 0
                locsearch_provider_askable{provider="hotpepper"} 0
                # TYPE locsearch_provider_rate_refusals_total counter
                locsearch_provider_rate_refusals_total{provider="google-places"} 10
                locsearch_provider_rate_refusals_total{provider="hotpepper"} 20
                # TYPE locsearch_provider_concurrency_limit gauge
                locsearch_provider_concurrency_limit{provider="google-places"} 13
                locsearch_provider_concurrency_limit{provider="hotpepper"} 26
                # TYPE locsearch_provider_concurrency_in_flight gauge
                locsearch_provider_concurrency_in_flight{provider="google-places"} 14
                locsearch_provider_concurrency_in_flight{provider="hotpepper"} 28
                # TYPE locsearch_provider_concurrency_refusals_total counter
                locsearch_provider_concurrency_refusals_total{provider="google-places"} 18
                locsearch_provider_concurrency_refusals_total{provider="hotpepper"} 36
                # TYPE locsearch_provider_calls_shared_total counter
                locsearch_provider_calls_shared_total{provider="google-places"} 24
                locsearch_provider_calls_shared_total{provider="hotpepper"} 48
                """#)
    }
}
