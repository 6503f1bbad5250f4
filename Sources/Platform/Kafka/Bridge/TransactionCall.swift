internal import CRdkafka

/// One of librdkafka's transaction calls. Each blocks its thread until the brokers have answered.
struct TransactionCall: Sendable {
    /// The text with which an error of the call begins.
    let name: String
    /// Receives the client and the call's timeout in milliseconds.
    private let body: @Sendable (OpaquePointer, Int32) -> OpaquePointer?

    /// Makes the call.
    /// - Parameter time: The timeout. librdkafka can exceed it while it waits for an internal result: see
    ///   `TransactionCalls`.
    func make(on client: ClientHandle, within time: Duration) -> KafkaError? {
        let milliseconds = Int32(clamping: time.wholeMilliseconds)
        return body(client.pointer, milliseconds).map { KafkaError(consuming: $0, doing: name) }
    }

    /// True for the initialization, which precedes all transactions.
    var isInitialization: Bool { name == Self.initialize.name }

    /// The error for a call abandoned at the deadline.
    var unanswered: KafkaError { KafkaError(.timedOut, "\(name): no answer from the brokers in time") }

    /// The error for a call that did not return long after its timeout.
    var hung: KafkaError { KafkaError(.hung, "\(name): the call into librdkafka did not return in time") }

    static let initialize = TransactionCall(name: "init transactions") { rd_kafka_init_transactions($0, $1) }
    static let begin = TransactionCall(name: "begin transaction") { client, _ in rd_kafka_begin_transaction(client) }
    static let commit = TransactionCall(name: "commit transaction") { rd_kafka_commit_transaction($0, $1) }
    static let abort = TransactionCall(name: "abort transaction") { rd_kafka_abort_transaction($0, $1) }

    static func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) -> TransactionCall {
        let entries = offsets.map { ($0.partition, $0.next) }
        return TransactionCall(name: "add offsets to transaction") { client, milliseconds in
            let list = PartitionList(entries)
            return rd_kafka_send_offsets_to_transaction(client, list.pointer, member.metadata?.pointer, milliseconds)
        }
    }
}
