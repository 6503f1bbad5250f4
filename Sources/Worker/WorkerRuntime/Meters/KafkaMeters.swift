internal import Kafka
internal import Metrics

/// The metrics of the exchange with the brokers.
struct KafkaMeters: Sendable {
    private let partitionsAssigned: Meter
    private let producersReplaced: Counter
    private let commitsFailed: Counter
    private let deadLetters: Counter
    private let missed: Counter
    private let passedOver: Counter
    /// By `DeliveryStallDetector.Topic`: the durations of sends to that topic.
    private let sends: [Timer]
    /// The durations of commits, by request topic.
    private let commits: [(topic: String, timer: Timer)]
    private let rebalances: CaseTable<RebalanceKind, Timer>

    init(topics: WorkerConfiguration.Topics, maker: MeterMaker) {
        func operation(_ name: String, on topic: String) -> Timer {
            maker.timer(
                "messaging_client_operation_duration_seconds",
                labels: [
                    ("messaging_system", "kafka"), ("messaging_operation_name", name),
                    ("messaging_destination_name", topic),
                ])
        }

        partitionsAssigned = maker.meter("locsearch_partitions_assigned")
        producersReplaced = maker.counter("locsearch_producers_replaced_total")
        commitsFailed = maker.counter("locsearch_commits_failed_total")
        missed = maker.counter("locsearch_requests_deleted_unread_total")
        passedOver = maker.counter("locsearch_requests_done_before_total")
        deadLetters = maker.counter("locsearch_dead_letters_total")

        sends = DeliveryStallDetector.Topic.allCases.map { operation("send", on: topics.name(of: $0)) }
        commits = topics.requestTopics.map { ($0.name, operation("commit", on: $0.name)) }
        rebalances = maker.each(RebalanceKind.self) {
            maker.timer("locsearch_rebalance_duration_seconds", labels: [("kind", $0)])
        }
    }

    /// Counts a record that the brokers have acknowledged.
    func countConfirmed(by topic: DeliveryStallDetector.Topic, after time: Duration) {
        sends[topic.rawValue].record(wait: time)
    }

    /// Counts a dead letter that the brokers have acknowledged.
    func countDeadLetter() { deadLetters.increment() }

    /// Counts a request that a former owner of its partition had done.
    func countPassedOver() { passedOver.increment() }

    /// Counts requests that the brokers deleted before they were read.
    func countMissed(_ count: Int64) { missed.increment(by: count) }

    /// Counts a commit of finished offsets, or of a transaction, once for each topic with offsets in it.
    func countCommit(of partitions: some Collection<AssignedPartition>, after time: Duration) {
        for commit in commits where commits.count == 1 || partitions.contains(where: { $0.id.topic == commit.topic }) {
            commit.timer.record(wait: time)
        }
    }

    /// Counts a commit that was refused or timed out.
    func countFailedCommit() { commitsFailed.increment() }

    /// Counts a producer that failed and was replaced by one that writes its records.
    func countReplacedProducer() { producersReplaced.increment() }

    /// - Parameter change: the change in the number of assigned partitions.
    func countAssigned(change: Int) { partitionsAssigned.increment(by: Double(change)) }

    func countRebalance(_ kind: RebalanceKind, after time: Duration) { rebalances[kind].record(wait: time) }
}
