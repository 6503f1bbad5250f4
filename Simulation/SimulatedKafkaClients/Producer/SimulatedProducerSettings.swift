internal import SimulatedKafka

/// The properties of librdkafka that decide how a producer behaves. All times are nanoseconds.
package struct SimulatedProducerSettings: Hashable, Sendable {
    /// `transactional.id`; `nil`: no transactions.
    package var transactionalID: String?
    /// `transaction.timeout.ms`.
    package var transactionTimeout: Int64 = 60 * ClusterRules.second
    /// `linger.ms`.
    package var linger: Int64 = 5 * ClusterRules.millisecond
    /// `batch.num.messages`.
    package var batchRecords = 1_000
    /// `message.timeout.ms`: how long a record is tried.
    package var messageTimeout: Int64 = 300 * ClusterRules.second
    /// How long a record of this producer is tried: with transactions, librdkafka lowers `message.timeout.ms` to theirs.
    package var recordTimeout: Int64 {
        transactionalID == nil ? messageTimeout : min(messageTimeout, transactionTimeout)
    }
    /// `request.timeout.ms`: how long the leader waits for the other replicas.
    package var requestTimeout: Int64 = 30 * ClusterRules.second
    /// `queue.buffering.max.messages`.
    package var queueRecords = 20_000
    /// `message.max.bytes`: larger records are refused by the client itself.
    package var maxRecordBytes = 16_777_216

    package init(transactionalID: String? = nil) { self.transactionalID = transactionalID }
}
