/// How strict the cluster is, and the settings of its brokers. All times are nanoseconds.
///
/// The defaults are those of Apache Kafka 4.1, except that a model has no reason to wait for its first member.
package struct ClusterRules: Sendable, Hashable {
    /// Which epochs of a member a commit of offsets may name.
    package enum MemberEpochCheck: Sendable, Hashable {
        /// Only the member's present epoch: Apache Kafka 4.0 to 4.2.
        case equal
        /// Any epoch since the partition was assigned to the member: Apache Kafka 4.3.
        case sinceAssignment
    }

    // MARK: - Brokers and topics

    /// The number of brokers. They have the numbers from 1.
    package var brokers: Int32 = 1
    /// `auto.create.topics.enable`: whether asking for a topic makes it.
    package var createsTopics = false
    /// `num.partitions`: of a topic that is made by asking for it.
    package var defaultPartitions: Int32 = 1
    /// `message.max.bytes`: the largest batch, unless the topic has a limit of its own.
    package var maxMessageBytes = 1_048_588
    /// `message.timestamp.after.max.ms`: how far ahead of the broker's clock a record's timestamp may be; `nil`: any.
    package var maxTimestampAhead: Int64? = 3_600 * second
    /// `producer.id.expiration.ms`: when a partition forgets a producer that writes nothing.
    package var producerExpiration: Int64 = 86_400 * second
    /// How many batches of a producer a partition remembers, to answer one that comes twice.
    package var rememberedBatches = 5

    // MARK: - Classic groups

    /// `group.initial.rebalance.delay.ms`: how long the first member of an empty group waits for others.
    package var initialRebalanceDelay: Int64 = 0
    /// `group.min.session.timeout.ms` and `group.max.session.timeout.ms`.
    package var sessionTimeouts: ClosedRange<Int64> = 6 * second...1_800 * second
    /// `group.max.size`.
    package var maxGroupSize = Int.max
    /// How long a member that has been given its id may take to join with it, and a new member's join may take.
    package var newMemberTimeout: Int64 = 300 * second
    /// `offset.metadata.max.bytes`.
    package var maxOffsetMetadataBytes = 4_096
    /// False for brokers that take the text beside an offset and drop it, as Tansu does.
    package var keepsOffsetMetadata = true

    // MARK: - Consumer groups (KIP-848)

    /// False for a broker that has no KIP-848: UNSUPPORTED_VERSION.
    package var hasConsumerGroups = true
    /// Which epochs OffsetCommit and TxnOffsetCommit may name.
    package var memberEpochCheck = MemberEpochCheck.equal
    /// `group.consumer.assignment.interval.ms`: how long after one computation of the target the next one may come. Apache
    /// Kafka 4.3 has 1 s by default, and earlier versions compute the target with every change.
    package var consumerAssignmentInterval: Int64 = 0
    /// `group.consumer.session.timeout.ms`.
    package var consumerSessionTimeout: Int64 = 45 * second
    /// `group.consumer.heartbeat.interval.ms`.
    package var consumerHeartbeatInterval: Int64 = 5 * second

    // MARK: - Transactions

    /// Whether the cluster's feature `transaction.version` is 2, as it is on clusters made by Kafka 4. An abort by the
    /// coordinator then leaves the aborted epoch known, so that its producer may ask for the next one.
    package var hasTransactionsVersion2 = true
    /// `transaction.max.timeout.ms`.
    package var maxTransactionTimeout: Int64 = 900 * second
    /// `transaction.abort.timed.out.transaction.cleanup.interval.ms`: how often the coordinator looks for transactions whose
    /// time is up.
    package var transactionTimeoutInterval: Int64 = 10 * second
    /// `transactional.id.expiration.ms`.
    package var transactionalIDExpiration: Int64 = 7 * 86_400 * second
    /// `transaction.partition.verification.enable`: whether a partition asks the coordinator if it is part of the
    /// transaction before it takes the first record of it.
    package var verifiesTransactions = true
    /// How long the coordinator waits before it tries again to write a marker to a partition without a leader.
    package var markerRetryInterval: Int64 = 100 * millisecond

    package init() {}

    package static let millisecond: Int64 = 1_000_000
    package static let second: Int64 = 1_000_000_000
}
