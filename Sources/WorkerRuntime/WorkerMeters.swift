internal import LocationSearch
internal import Metrics

/// The worker's metrics: handles made once, so that counting is an atomic add. Shared by all lanes; thread-safe.
public final class WorkerMeters: Sendable {
    private let takenCounter = Counter(label: "locsearch_requests_taken_total")
    private let rejectedCounter = Counter(label: "locsearch_requests_rejected_total")
    private let inFlightGauge = Meter(label: "locsearch_requests_in_flight")
    private let assignedGauge = Gauge(label: "locsearch_partitions_assigned")
    private let wastedCalls = Counter(label: "locsearch_provider_calls_wasted_total")
    private let replacedProducers = Counter(label: "locsearch_producers_replaced_total")
    private let failedCommits = Counter(label: "locsearch_commits_failed_total")
    private let completed: [ProviderID: Counter]
    private let failed: [SearchError.Code: Counter]
    private let upstream: [ProviderID: Timer]

    public init() {
        func by<Key: Hashable & RawRepresentable<String>, Value>(
            _ keys: [Key], _ make: (String) -> Value
        ) -> [Key: Value] {
            Dictionary(uniqueKeysWithValues: keys.map { ($0, make($0.rawValue)) })
        }
        completed = by(ProviderID.allCases) {
            Counter(label: "locsearch_requests_completed_total", dimensions: [("provider", $0)])
        }
        failed = by(SearchError.Code.allCases) {
            Counter(label: "locsearch_requests_failed_total", dimensions: [("code", $0)])
        }
        upstream = by(ProviderID.allCases) {
            Timer(label: "locsearch_upstream_duration_seconds", dimensions: [("provider", $0)])
        }
    }

    func taken() {
        takenCounter.increment()
        inFlightGauge.increment()
    }

    func settled() { inFlightGauge.decrement() }

    /// Calls whose answer nobody gets: the request was superseded, or its partition went to another member.
    public func wasted(_ calls: Int) { if calls > 0 { wastedCalls.increment(by: calls) } }

    /// A producer failed for good and another delivers what it left.
    func replacedProducer() { replacedProducers.increment() }

    /// Finished offsets were not taken, or not in time.
    func failedCommit() { failedCommits.increment() }

    func rejected() { rejectedCounter.increment() }

    func assigned(_ count: Int) { assignedGauge.record(count) }

    func finished(_ outcome: SearchOutcome) {
        switch outcome.result {
        case .success: outcome.provider.map { completed[$0]?.increment() }
        case .failure(let error): failed[error.code]?.increment()
        }
        guard outcome.attempts > 0, let provider = outcome.provider else { return }
        let (seconds, attoseconds) = outcome.upstream.components
        upstream[provider]?.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
