import JSON
import LocationSearch
import QuotaSharing
import TestSupport
import Testing

@testable import ProviderCalls
@testable import Resilience
@testable import locsearch

/// The providers in `/status` and `/metrics`. Dashboards and alerts read both.
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
            budgets: [])
    }

    /// Two loops with all possible figures of a provider, and one loop with as few as possible.
    private static var summaries: [ProviderSummary] {
        var budget = BudgetStatus(Budget(.hotpepper, limit: 3000), nil)
        (budget.period, budget.limit, budget.since) = ("2026-11-23", 3000, "2026-11-23T09:00:00Z")
        (budget.made, budget.reserved, budget.left) = (["search/hotpepper": 1200, "photo/photo": 60], 140, 1600)
        budget.kept = 300

        var busy = status(of: .hotpepper, breaker: .open, reason: .failureRate)
        (busy.openFor, busy.pausedFor, busy.allowedPerSecond) = (.milliseconds(1500), .seconds(3), 0.1)
        busy.budgets = [budget]
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
                "budgets":[{"account":"hotpepper","unit":"calls","period":"2026-11-23","endsInSeconds":0,"budget":3000,\#
                "used":1260,"reserved":140,"left":1600,"kept":300,"warning":80,\#
                "since":"2026-11-23T09:00:00Z",\#
                "made":[{"operation":"photo","sku":"photo","calls":60},{"operation":"search","sku":"hotpepper",\#
                "calls":1200}]}]}]
                """#)
    }

    /// The value of each metric for Google Places and for Hot Pepper; `nil`: it has no sample.
    private static let figures: [(name: String, kind: String, google: Double?, hotpepper: Double)] = [
        ("calls_total", "counter", 23, 46), ("requests_held", "gauge", 25, 50), ("retries_total", "counter", 21, 42),
        ("retries_refused_total", "counter", 22, 44), ("rate_limit", "gauge", nil, 2.6),
        ("budget", "gauge", nil, 3000), ("budget_used", "gauge", nil, 1260),
        ("budget_reserved", "gauge", nil, 140), ("budget_left", "gauge", nil, 1600),
        ("budget_ends_in_seconds", "gauge", nil, 0),
        ("askable", "gauge", 0, 0), ("rate_refusals_total", "counter", 10, 20), ("concurrency_limit", "gauge", 13, 26),
        ("concurrency_in_flight", "gauge", 14, 28), ("concurrency_refusals_total", "counter", 18, 36),
        ("calls_shared_total", "counter", 24, 48),
    ]

    @Test(
        arguments: [
            ([(.open, .keyRefused)], "no provider is available: hotpepper: key-refused"),
            ([(.halfOpen, .keyRefused)], nil), ([(.closed, nil)], nil), ([(.open, .failureRate)], nil),
            (
                [(.open, .budgetUsedUp), (.open, .pausedByOrder)],
                "no provider is available: hotpepper: paused-by-order"
            ),
            ([(.open, .quotaUsedUp), (.halfOpen, .quotaUsedUp)], "no provider is available: hotpepper: quota-used-up"),
        ] as [([(CircuitBreaker.State, CircuitBreaker.Reason?)], String?)])
    func `No provider is available until one may be called`(
        loops: [(CircuitBreaker.State, CircuitBreaker.Reason?)], problem: String?
    ) {
        let summaries = ProviderSummary.all(loops.map { Self.status(of: .hotpepper, breaker: $0.0, reason: $0.1) })
        #expect(ProviderSummary.problem(of: summaries, automatic: [.hotpepper]) == problem)
    }

    @Test func `The metrics show each figure of a provider`() {
        let metrics = PrometheusDocument(ProviderSummary.prometheusText(Self.summaries))
        #expect(metrics.problems.isEmpty, "\(metrics.problems)")

        for (name, kind, google, hotpepper) in Self.figures {
            let family = "locsearch_provider_\(name)"
            #expect(metrics.families[family]?.kind == kind, "\(name)")
            let account = name.hasPrefix("budget") ? ["account": "hotpepper", "unit": "calls"] : [:]
            #expect(metrics.value(family, ["provider": "google-places"]) == google, "\(name)")
            #expect(metrics.value(family, account.merging(["provider": "hotpepper"]) { $1 }) == hotpepper, "\(name)")
        }
        let states = [
            "state": ["closed", "open", "half-open", "paused"],
            "reason": [
                "failure-rate", "slow-call-rate", "probes-failed", "key-refused", "quota-used-up", "budget-used-up",
                "provider-rate-limit", "provider-unavailable", "paused-by-order",
            ],
        ]
        for (label, values) in states {
            let family = "locsearch_provider_breaker_\(label)"
            #expect(metrics.families[family]?.samples.count == 2 * values.count)
            for value in values {
                let google = metrics.value(family, ["provider": "google-places", label: value])
                let hotpepper = metrics.value(family, ["provider": "hotpepper", label: value])
                #expect(google == (value == "closed" ? 1 : 0), "\(value)")
                #expect(hotpepper == (["open", "failure-rate"].contains(value) ? 1 : 0), "\(value)")
            }
        }
        #expect(metrics.families.count == Self.figures.count + states.count)
    }
}
