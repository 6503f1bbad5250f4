internal import DequeModule
internal import EventLoop
internal import Kafka
internal import LocationSearch

/// Publishes outcomes in the order of their requests, per group (a key or a partition). Requests still run
/// concurrently: only publishing waits, at most until the deadline of the group's first request.
///
/// Confined to one actor; not `Sendable`.
final class OutcomeSequencer<Group: Hashable> {
    /// A request's position in the order of its group.
    final class Position {
        let group: Group
        private unowned let sequencer: OutcomeSequencer
        fileprivate var hasLeft = false
        fileprivate var start = Condition()

        fileprivate init(_ group: Group, of sequencer: OutcomeSequencer) {
            self.group = group
            self.sequencer = sequencer
        }

        /// True once all earlier requests of the group have left.
        var isFirst: Bool { sequencer.isFirst(self) }

        /// Returns once all earlier requests of the group have left.
        func wait() async {
            guard !isFirst else { return }
            await suspend(unless: sequencer.isFirst(self)) { start.add($0) }
        }

        /// Leaves the order, with an outcome or without, so that the next request may publish. A second call changes
        /// nothing.
        func leave() {
            guard !hasLeft else { return }
            hasLeft = true
            sequencer.advance(group)
        }
    }

    private var groups: [Group: Deque<Position>] = [:]

    /// The number of groups with unpublished outcomes.
    var groupCount: Int { groups.count }

    /// Appends a position to the group's order. Call it in the order of the requests.
    func append(to group: Group) -> Position {
        let position = Position(group, of: self)
        groups[group, default: []].append(position)
        return position
    }

    private func isFirst(_ position: Position) -> Bool { groups[position.group]?.first === position }

    private func advance(_ group: Group) {
        while let first = groups[group]?.first, first.hasLeft { groups[group]?.removeFirst() }

        guard let next = groups[group]?.first else {
            groups[group] = nil
            return
        }
        next.start.signal()
    }
}

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
        case .partition: sequencer.append(to: .partition(id, requestClass))
        // A record without a key has no order to keep.
        case .key: record.key.map { sequencer.append(to: .key(id, key: $0, requestClass)) }
        }
    }
}

/// The scope of an order: outcomes with equal keys are published in the order of their requests, separately for each
/// class.
enum OrderKey: Hashable {
    case key(TopicPartition, key: [UInt8], RequestClass)
    case partition(TopicPartition, RequestClass)
}
