internal import Kafka
internal import LocationSearch

/// The order of outcomes that `worker.ordering` promises. Confined to its lane; not `Sendable`.
final class OutcomeOrder {
    private let ordering: WorkerConfiguration.Ordering
    private let sequencer = OutcomeSequencer<OrderKey>()

    init(_ ordering: WorkerConfiguration.Ordering) { self.ordering = ordering }

    /// Appends a record's outcome to its order. Call it in the order of the records.
    /// - Returns: `nil` if the outcome has no order to keep.
    func append(_ record: ConsumerRecord, _ requestClass: RequestClass) -> OutcomeSequencer<OrderKey>.Position? {
        let id = record.partition.id
        return switch ordering {
        case .unordered: nil
        case .partition: sequencer.append(to: .partition(id.topic, number: id.partition, requestClass))
        // A record without a key has no order to keep.
        case .key:
            record.key.map {
                sequencer.append(to: .key(partition: id.topic, number: id.partition, key: $0, requestClass))
            }
        }
    }
}

/// The scope of an order: outcomes with equal keys are published in the order of their requests, separately for each
/// class.
enum OrderKey: Hashable {
    case key(partition: String, number: Int32, key: [UInt8], RequestClass)
    case partition(String, number: Int32, RequestClass)
}
