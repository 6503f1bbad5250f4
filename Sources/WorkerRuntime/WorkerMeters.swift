internal import Kafka
public import LocationSearch
public import Metrics

/// The worker's metrics: handles made once, so that counting is an atomic add. Shared by all lanes; thread-safe.
///
/// Names, labels and buckets are those of the table of metrics (docs/metrics.md). Labels are made of providers, error codes
/// and our own topics only, never of anything that was read from a record.
public final class WorkerMeters: Sendable {
    private let takenCounter: Counter
    private let rejectedCounter: Counter
    private let inFlightGauge: Meter
    private let assignedGauge: Meter
    private let wastedCalls: Counter
    private let replacedProducers: Counter
    private let failedCommits: Counter
    private let deadLetters: Counter
    private let completed: [ProviderID: Counter]
    private let failed: [SearchError.Code: Counter]
    private let upstream: [ProviderID: Timer]
    private let calls: [ProviderID: CallTimers]
    private let topicWait: Timer
    private let callWait: Timer
    private let endToEnd: Timer
    private let processing: Timer
    /// By the topic that the record went to.
    private let sends: [Timer]
    private let commits: Timer
    private let rebalances: [RebalanceKind: Timer]

    /// The durations of one provider's calls, by how they ended.
    private struct CallTimers {
        let answered: Timer
        let cancelled: Timer
        let failed: [SearchError.Code: Timer]
    }

    /// - Parameters:
    ///   - topics: the names that show as `messaging_destination_name`.
    ///   - group: the consumer group, which shows as `messaging_consumer_group_name`.
    ///   - factory: where the metrics are kept; `nil`: where the process keeps its own.
    public init(
        topics: WorkerConfiguration.Topics = WorkerConfiguration.Topics(), group: String = "",
        factory: (any MetricsFactory)? = nil
    ) {
        let factory = factory ?? MetricsSystem.factory
        func counter(_ name: String, _ labels: [(String, String)] = []) -> Counter {
            Counter(label: name, dimensions: labels, factory: factory)
        }
        func timer(_ name: String, _ labels: [(String, String)] = []) -> Timer {
            Timer(label: name, dimensions: labels, factory: factory)
        }
        func by<Key: Hashable & RawRepresentable<String>, Value>(
            _ keys: [Key], _ make: (String) -> Value
        ) -> [Key: Value] {
            Dictionary(uniqueKeysWithValues: keys.map { ($0, make($0.rawValue)) })
        }
        func operation(_ name: String, on topic: String) -> Timer {
            timer(
                "messaging_client_operation_duration_seconds",
                [
                    ("messaging_system", "kafka"), ("messaging_operation_name", name),
                    ("messaging_destination_name", topic),
                ])
        }

        takenCounter = counter("locsearch_requests_taken_total")
        rejectedCounter = counter("locsearch_requests_rejected_total")
        inFlightGauge = Meter(label: "locsearch_requests_in_flight", factory: factory)
        assignedGauge = Meter(label: "locsearch_partitions_assigned", factory: factory)
        wastedCalls = counter("locsearch_provider_calls_wasted_total")
        replacedProducers = counter("locsearch_producers_replaced_total")
        failedCommits = counter("locsearch_commits_failed_total")
        deadLetters = counter("locsearch_dead_letters_written_total")

        completed = by(ProviderID.allCases) { counter("locsearch_requests_completed_total", [("provider", $0)]) }
        failed = by(SearchError.Code.allCases) { counter("locsearch_requests_failed_total", [("code", $0)]) }
        upstream = by(ProviderID.allCases) { timer("locsearch_upstream_duration_seconds", [("provider", $0)]) }
        calls = by(ProviderID.allCases) { provider in
            func calls(_ code: String) -> Timer {
                timer("locsearch_provider_call_duration_seconds", [("provider", provider), ("code", code)])
            }
            return CallTimers(
                answered: calls("ok"), cancelled: calls("cancelled"), failed: by(SearchError.Code.allCases, calls))
        }

        topicWait = timer("locsearch_request_topic_wait_seconds")
        callWait = timer("locsearch_request_call_wait_seconds")
        endToEnd = timer("locsearch_request_end_to_end_seconds")
        processing = timer(
            "messaging_process_duration_seconds",
            [
                ("messaging_system", "kafka"), ("messaging_operation_name", "process"),
                ("messaging_destination_name", topics.requests), ("messaging_consumer_group_name", group),
            ])
        sends = ConfirmationWatch.Topic.allCases.map { operation("send", on: topics.name(of: $0)) }
        commits = operation("commit", on: topics.requests)
        rebalances = by(RebalanceKind.allCases) { timer("locsearch_rebalance_duration_seconds", [("kind", $0)]) }
    }

    // MARK: - Requests

    /// A record was taken that had waited in its topic for so long; `nil` where its timestamp is not known.
    func taken(after wait: Duration?) {
        takenCounter.increment()
        inFlightGauge.increment()
        if let wait { topicWait.record(wait: wait) }
    }

    func settled() { inFlightGauge.decrement() }

    func rejected() { rejectedCounter.increment() }

    /// - Parameter callWait: the time from the receipt of the request to its first call; `nil` when it made none.
    func finished(_ outcome: SearchOutcome, callWait wait: Duration?) {
        switch outcome.result {
        case .success: outcome.provider.map { completed[$0]?.increment() }
        case .failure(let error): failed[error.code]?.increment()
        }

        if let wait { callWait.record(wait: wait) }
        guard outcome.attempts > 0, let provider = outcome.provider else { return }
        upstream[provider]?.record(wait: outcome.upstream)
    }

    /// The outcome of a record is confirmed.
    /// - Parameter time: since the record was taken.
    /// - Parameter wait: as `taken`.
    func delivered(after time: Duration, topicWait wait: Duration?) {
        processing.record(wait: time)
        if let wait { endToEnd.record(wait: wait + time) }
    }

    // MARK: - Providers

    /// Calls whose answer nobody gets: the request was superseded, or its partition went to another member.
    public func wasted(_ calls: Int) { if calls > 0 { wastedCalls.increment(by: calls) } }

    /// A call to a provider has ended.
    public func called(_ provider: ProviderID, _ end: CallEnd, after time: Duration) {
        guard let timers = calls[provider] else { return }
        switch end {
        case .answered: timers.answered.record(wait: time)
        case .cancelled: timers.cancelled.record(wait: time)
        case .failed(let code): timers.failed[code]?.record(wait: time)
        }
    }

    // MARK: - Kafka

    /// The brokers have confirmed a record.
    func acknowledged(by topic: ConfirmationWatch.Topic, after time: Duration) {
        sends[topic.rawValue].record(wait: time)
    }

    func wroteDeadLetter() { deadLetters.increment() }

    /// Finished offsets, or a transaction, are committed.
    func committed(after time: Duration) { commits.record(wait: time) }

    /// Finished offsets were not taken, or not in time.
    func failedCommit() { failedCommits.increment() }

    /// A producer failed for good and another delivers what it left.
    func replacedProducer() { replacedProducers.increment() }

    /// - Parameter change: by how much the number of assigned partitions differs from before.
    func assigned(change: Int) { assignedGauge.increment(by: Double(change)) }

    /// The group's word about partitions is answered.
    func rebalanced(_ kind: RebalanceKind, after time: Duration) { rebalances[kind]?.record(wait: time) }
}

extension Timer {
    /// A record's timestamp is whatever its producer wrote. One from 1970 would hide all others in the sum.
    private static let longest = Duration.seconds(30 * 86_400)

    /// Records a time of 0 to 30 days; what is outside counts as the nearest of the two.
    fileprivate func record(wait: Duration) {
        let (seconds, attoseconds) = min(max(wait, .zero), Self.longest).components
        recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
