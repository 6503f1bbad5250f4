internal import Basics
package import LocationSearch
internal import Metrics
package import ProviderCalls

/// The metrics of calls to providers. Thread-safe.
package struct CallMeters: Sendable {
    private let wasted: Counter
    private let unreadable: CaseTable<ProviderID, Counter>
    private let durations: CaseTable<ProviderID, Durations>
    private let bySKU: CaseTable<PriceClass, Counter>

    /// The durations of one provider's calls, by result.
    private struct Durations {
        let answered: Timer
        let cancelled: Timer
        let failed: CaseTable<SearchError.Code, Timer>
    }

    init(maker: MeterMaker) {
        wasted = maker.counter("locsearch_provider_calls_wasted_total")
        unreadable = maker.each(ProviderID.self) {
            maker.counter("locsearch_provider_unreadable_places_total", labels: [("provider", $0)])
        }
        bySKU = CaseTable { priceClass in
            let labels = [("provider", priceClass.provider.rawValue), ("sku", priceClass.rawValue)]
            return maker.counter("locsearch_provider_calls_by_sku_total", labels: labels)
        }
        durations = maker.each(ProviderID.self) { provider in
            func timer(_ code: String) -> Timer {
                maker.timer(
                    "locsearch_provider_call_duration_seconds", labels: [("provider", provider), ("code", code)])
            }
            return Durations(
                answered: timer("ok"), cancelled: timer("cancelled"), failed: maker.each(SearchError.Code.self, timer))
        }
    }

    /// Counts calls whose results are not used: the request was superseded, or its partition was revoked.
    package func countWasted(_ calls: Int) { if calls > 0 { wasted.increment(by: calls) } }

    /// Counts places of answers that could not be read, and were left out.
    func countUnreadable(_ places: Int, from provider: ProviderID) { unreadable[provider].increment(by: places) }

    /// Counts a finished call to a provider.
    /// - Parameter priceClass: the class by which the provider charges it.
    package func countEnded(_ priceClass: PriceClass, _ end: CallEnd, after time: Duration) {
        bySKU[priceClass].increment()

        let timers = durations[priceClass.provider]
        switch end {
        case .answered: timers.answered.record(wait: time)
        case .cancelled: timers.cancelled.record(wait: time)
        case .failed(let code): timers.failed[code].record(wait: time)
        }
    }
}
