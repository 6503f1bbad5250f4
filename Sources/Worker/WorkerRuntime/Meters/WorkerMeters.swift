public import Metrics

/// The worker's metrics: handles made once, so that counting is an atomic add. Shared by all lanes; thread-safe.
///
/// Names, labels and buckets are those of the table of metrics (docs/metrics.md). Labels are made of providers, error codes
/// and our own topics only, never of anything that was read from a record.
public struct WorkerMeters: Sendable {
    let requests: RequestMeters
    /// The calls to providers.
    public let calls: CallMeters
    let kafka: KafkaMeters

    /// - Parameters:
    ///   - topics: the names that show as `messaging_destination_name`: those of the lanes that count here.
    ///   - group: the consumer group, which shows as `messaging_consumer_group_name`.
    ///   - factory: where the metrics are kept; `nil`: where the process keeps its own.
    public init(
        topics: WorkerConfiguration.Topics = WorkerConfiguration.Topics(), group: String = "",
        factory: (any MetricsFactory)? = nil
    ) {
        let maker = MeterMaker(factory: factory ?? MetricsSystem.factory)
        requests = RequestMeters(topics: topics.requestTopics.map(\.name), group: group, maker: maker)
        calls = CallMeters(maker: maker)
        kafka = KafkaMeters(topics: topics, maker: maker)
    }
}
