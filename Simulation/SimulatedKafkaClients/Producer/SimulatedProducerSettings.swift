internal import SimulatedKafka

/// The librdkafka properties that determine a producer's behaviour. All times are nanoseconds.
package struct SimulatedProducerSettings: Hashable, Sendable {
    /// `transactional.id`; `nil`: no transactions.
    package var transactionalID: String?
    /// `transaction.timeout.ms`.
    package var transactionTimeout: Int64 = 60 * ClusterRules.second
    /// `linger.ms`.
    package var linger: Int64 = 5 * ClusterRules.millisecond
    /// `batch.num.messages`.
    package var batchRecords = 1_000
    /// `message.timeout.ms`: the time for which a record is tried.
    package var messageTimeout: Int64 = 300 * ClusterRules.second
    /// The time for which this producer tries a record. With transactions, librdkafka lowers `message.timeout.ms` to their timeout.
    package var recordTimeout: Int64 {
        transactionalID == nil ? messageTimeout : min(messageTimeout, transactionTimeout)
    }
    /// `request.timeout.ms`: the time for which the leader waits for the other replicas.
    package var requestTimeout: Int64 = 30 * ClusterRules.second
    /// `queue.buffering.max.messages`.
    package var queueRecords = 20_000
    /// `message.max.bytes`: larger records are rejected by the client itself.
    package var maxRecordBytes = 16_777_216

    package init(transactionalID: String? = nil) { self.transactionalID = transactionalID }
}
