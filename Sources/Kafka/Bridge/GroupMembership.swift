internal import CRdkafka

/// A consumer's membership of its group as of one assignment, for a transaction to name: brokers refuse offsets in the
/// name of a membership that is over.
public final class GroupMembership: Sendable {
    /// `nil` only in a membership that a fake consumer made up.
    let metadata: Shared?

    /// Makes a membership that belongs to no client, for tests with a fake consumer. A real producer refuses it.
    package init() { metadata = nil }

    /// - Parameter client: A consumer's, after an assignment has come.
    convenience init?(of client: ClientHandle) {
        guard let metadata = rd_kafka_consumer_group_metadata(client.pointer) else { return nil }
        self.init(owning: metadata)
    }

    /// Takes `metadata` over.
    init(owning metadata: OpaquePointer) { self.metadata = Shared(pointer: metadata) }

    deinit {
        if let metadata { rd_kafka_consumer_group_metadata_destroy(metadata.pointer) }
    }
}
