internal import CRdkafka

/// A consumer's place in its group as of one assignment, for a transaction to name: brokers refuse offsets in the name of
/// a place that is over.
public final class GroupMembership: Sendable {
    /// `nil` only in a membership that a fake consumer made up.
    let metadata: Shared?

    /// Makes a membership that belongs to no client, for tests with a fake consumer. A real producer refuses it.
    package init() { metadata = nil }

    /// - Parameter client: a consumer's, when an assignment has come.
    init?(of client: OpaquePointer) {
        guard let metadata = rd_kafka_consumer_group_metadata(client) else { return nil }
        self.metadata = Shared(pointer: metadata)
    }

    deinit {
        if let metadata { rd_kafka_consumer_group_metadata_destroy(metadata.pointer) }
    }
}
