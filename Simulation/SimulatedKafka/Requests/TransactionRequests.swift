/// InitProducerId.
package struct InitProducerIDRequest: Hashable, Sendable {
    /// `nil`: an idempotent producer without transactions.
    package var transactionalID: String?
    package var transactionTimeout: Int64
    /// KIP-360: the producer's current identity, for which it requests a new epoch; `nil`: none.
    package var current: ProducerIdentity?

    package init(
        _ transactionalID: String?, transactionTimeout: Int64 = 60 * ClusterRules.second,
        current: ProducerIdentity? = nil
    ) {
        self.transactionalID = transactionalID
        self.transactionTimeout = transactionTimeout
        self.current = current
    }
}

package struct InitProducerIDResponse: Hashable, Sendable {
    package var error: ErrorCode
    package var producer = ProducerIdentity.none
}

/// The transactional id and producer of the requests below.
package struct TransactionName: Hashable, Sendable {
    package var id: String
    package var producer: ProducerIdentity
    /// False for versions of the request that answer INVALID_PRODUCER_EPOCH in place of PRODUCER_FENCED.
    ///
    /// librdkafka's versions of AddPartitionsToTxn, AddOffsetsToTxn and EndTxn do that.
    package var knowsProducerFenced: Bool

    package init(_ id: String, _ producer: ProducerIdentity, knowsProducerFenced: Bool = false) {
        self.id = id
        self.producer = producer
        self.knowsProducerFenced = knowsProducerFenced
    }
}

/// AddPartitionsToTxn.
package struct AddPartitionsToTxnRequest: Hashable, Sendable {
    package var transaction: TransactionName
    package var partitions: [PartitionID]

    package init(_ transaction: TransactionName, _ partitions: [PartitionID]) {
        self.transaction = transaction
        self.partitions = partitions
    }
}

package struct AddPartitionsToTxnResponse: Hashable, Sendable {
    package var results: [PartitionID: ErrorCode]
}

/// AddOffsetsToTxn.
package struct AddOffsetsToTxnRequest: Hashable, Sendable {
    package var transaction: TransactionName
    package var group: String

    package init(_ transaction: TransactionName, group: String) {
        self.transaction = transaction
        self.group = group
    }
}

/// TxnOffsetCommit.
package struct TxnOffsetCommitRequest: Hashable, Sendable {
    package var transaction: TransactionName
    package var group: String
    package var member: MemberName
    package var offsets: [PartitionID: OffsetToCommit]

    package init(
        _ transaction: TransactionName, group: String, as member: MemberName = .nobody,
        _ offsets: [PartitionID: OffsetToCommit]
    ) {
        self.transaction = transaction
        self.group = group
        self.member = member
        self.offsets = offsets
    }
}

/// EndTxn.
package struct EndTxnRequest: Hashable, Sendable {
    package var transaction: TransactionName
    package var result: TransactionResult

    package init(_ transaction: TransactionName, _ result: TransactionResult) {
        self.transaction = transaction
        self.result = result
    }
}
