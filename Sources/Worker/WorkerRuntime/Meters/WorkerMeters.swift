internal import Basics
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

/// Makes metric handles, one for each value of a label.
struct MeterMaker {
    let factory: any MetricsFactory

    func counter(_ name: String, labels: [(String, String)] = []) -> Counter {
        Counter(label: name, dimensions: labels, factory: factory)
    }

    func meter(_ name: String) -> Meter { Meter(label: name, factory: factory) }

    func timer(_ name: String, labels: [(String, String)] = []) -> Timer {
        Timer(label: name, dimensions: labels, factory: factory)
    }

    /// Makes a table with the result of `make` for each raw value.
    func each<Key: Equatable & RawRepresentable<String> & CaseIterable, Value>(
        _ keys: Key.Type, _ make: (String) -> Value
    ) -> CaseTable<Key, Value> {
        CaseTable { make($0.rawValue) }
    }
}

extension Timer {
    /// The longest recorded time. A record's timestamp is written by its producer, and one from 1970 would dominate the
    /// sum.
    private static let longest = Duration.seconds(30 * 86_400)

    /// Records a time, clamped to 0 to 30 days.
    func record(wait: Duration) {
        recordNanoseconds(min(max(wait, .zero), Self.longest).wholeNanoseconds)
    }
}
