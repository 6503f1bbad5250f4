package import Metrics

/// The worker's metrics. The handles are made once, so that counting is an atomic add. Shared by all lanes;
/// thread-safe.
///
/// docs/metrics.md lists names, labels and buckets. Label values are providers, error codes and configured topics only,
/// never data from a record.
package struct WorkerMeters: Sendable {
    let requests: RequestMeters
    /// The metrics of calls to providers.
    package let calls: CallMeters
    let kafka: KafkaMeters

    /// - Parameters:
    ///   - topics: the topics for the label `messaging_destination_name`.
    ///   - group: the consumer group, for the label `messaging_consumer_group_name`.
    ///   - factory: the metrics backend; `nil`: the process-wide one.
    package init(
        topics: WorkerConfiguration.Topics = WorkerConfiguration.Topics(), group: String = "",
        factory: (any MetricsFactory)? = nil
    ) {
        let maker = MeterMaker(factory: factory ?? MetricsSystem.factory)
        requests = RequestMeters(topics: topics.requestTopics.map(\.name), group: group, maker: maker)
        calls = CallMeters(maker: maker)
        kafka = KafkaMeters(topics: topics, maker: maker)
    }
}
