internal import CRdkafka

/// A consumer's place in its group as of one assignment, for a transaction to name: brokers refuse offsets in the name of
/// a place that is over.
public final class GroupMembership: Sendable {
    let metadata: Shared

    /// - Parameter client: a consumer's, when an assignment has come.
    init?(of client: OpaquePointer) {
        guard let metadata = rd_kafka_consumer_group_metadata(client) else { return nil }
        self.metadata = Shared(pointer: metadata)
    }

    deinit { rd_kafka_consumer_group_metadata_destroy(metadata.pointer) }
}
