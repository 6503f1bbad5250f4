/// The strictness of the cluster, and the settings of its brokers. All times are nanoseconds.
///
/// The defaults are those of Apache Kafka 4.1, except that a model has no reason to wait for its first member.
package struct ClusterRules: Sendable, Hashable {
    /// The epochs of a member that an offset commit may name.
    package enum MemberEpochCheck: Sendable, Hashable {
        /// Only the member's present epoch: Apache Kafka 4.0 to 4.2.
        case equal
        /// Any epoch since the partition was assigned to the member: Apache Kafka 4.3.
        case sinceAssignment
    }

    // MARK: - Brokers and topics

    /// The number of brokers, which are numbered from 1.
    package var brokers: Int32 = 1
    /// `auto.create.topics.enable`: whether a metadata request creates a topic.
    package var createsTopics = false
    /// `num.partitions`: the partitions of a topic that a metadata request creates.
    package var defaultPartitions: Int32 = 1
    /// `message.max.bytes`: the largest batch, unless the topic has a different limit.
    package var maxMessageBytes = 1_048_588
    /// `message.timestamp.after.max.ms`: how far ahead of the broker's clock a record's timestamp may be; `nil`: any.
    package var maxTimestampAhead: Int64? = 3_600 * second
    /// `producer.id.expiration.ms`: the time after which a partition forgets a producer that writes nothing.
    package var producerExpiration: Int64 = 86_400 * second
    /// The number of batches of a producer that a partition remembers, to answer duplicates.
    package var rememberedBatches = 5

    // MARK: - Classic groups

    /// `group.initial.rebalance.delay.ms`: how long the first member of an empty group waits for others.
    package var initialRebalanceDelay: Int64 = 0
    /// `group.min.session.timeout.ms` and `group.max.session.timeout.ms`.
    package var sessionTimeouts: ClosedRange<Int64> = 6 * second...1_800 * second
    /// `group.max.size`.
    package var maxGroupSize = Int.max
    /// The time that a new member may take to join with the id that it was given, and that its join may take.
    package var newMemberTimeout: Int64 = 300 * second
    /// `offset.metadata.max.bytes`.
    package var maxOffsetMetadataBytes = 4_096
    /// False for brokers that accept the metadata of an offset and drop it, as Tansu does.
    package var keepsOffsetMetadata = true

    // MARK: - Consumer groups (KIP-848)

    /// False for a broker without KIP-848: it answers UNSUPPORTED_VERSION.
    package var hasConsumerGroups = true
    /// The epochs that OffsetCommit and TxnOffsetCommit may name.
    package var memberEpochCheck = MemberEpochCheck.equal
    /// `group.consumer.assignment.interval.ms`: the least time between two computations of the target.
    ///
    /// Apache Kafka 4.3 has 1 s by default, and earlier versions compute the target with every change.
    package var consumerAssignmentInterval: Int64 = 0
    /// `group.consumer.session.timeout.ms`.
    package var consumerSessionTimeout: Int64 = 45 * second
    /// `group.consumer.heartbeat.interval.ms`.
    package var consumerHeartbeatInterval: Int64 = 5 * second

    // MARK: - Transactions

    /// Whether the cluster's feature `transaction.version` is 2, as on clusters made by Kafka 4.
    ///
    /// The coordinator then remembers the epoch of a transaction that it aborted, so that the producer may request the next one.
    package var hasTransactionsVersion2 = true
    /// `transaction.max.timeout.ms`.
    package var maxTransactionTimeout: Int64 = 900 * second
    /// `transaction.abort.timed.out.transaction.cleanup.interval.ms`: how often the coordinator checks for
    /// transactions that have timed out.
    package var transactionTimeoutInterval: Int64 = 10 * second
    /// `transactional.id.expiration.ms`.
    package var transactionalIDExpiration: Int64 = 7 * 86_400 * second
    /// `transaction.partition.verification.enable`: whether a partition checks with the coordinator that it is part of the
    /// transaction, before it accepts the first record of it.
    package var verifiesTransactions = true
    /// The time after which the coordinator tries again to write a marker to a partition without a leader.
    package var markerRetryInterval: Int64 = 100 * millisecond

    package init() {}

    package static let millisecond: Int64 = 1_000_000
    package static let second: Int64 = 1_000_000_000
}
