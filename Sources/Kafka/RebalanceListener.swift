/// Learns of partitions that come and go, one call at a time.
///
/// The group waits while a call runs. Records and delivery reports go on meanwhile, and the client goes on being polled, so
/// a call may take as long as `max.poll.interval.ms` allows.
public protocol RebalanceListener: AnyObject, Sendable {
    /// Partitions were assigned. Called before the first record of them is read.
    func assigned(_ partitions: [AssignedPartition]) async
    /// Reading is about to begin in assigned partitions, at what the group has committed of them. Partitions of which it has
    /// committed nothing are left out. Called after `assigned`, and before the first record is read; possibly much later, and
    /// for partitions whose assignment has ended meanwhile.
    func willRead(from committed: [AssignedPartition: CommittedOffset]) async
    /// Partitions are about to go to other members. Nothing more is read from them. What is stored when this returns is
    /// committed, and then they go.
    func revoked(_ partitions: [AssignedPartition]) async
    /// Partitions went to other members already. Nothing of them can be committed any more.
    func lost(_ partitions: [AssignedPartition]) async
    /// The group was answered: what one of the calls above began is over. Not called where no partition was concerned.
    /// - Parameter time: from the group's word to its answer, with the time that the listener took.
    func answered(_ kind: RebalanceKind, after time: Duration) async
    /// The broker deleted records of a partition before anybody read them, and reading goes on behind them.
    /// - Parameter count: how many offsets were left out. Not each of them need have held a record.
    func missed(_ count: Int64, of partition: TopicPartition) async
}

extension RebalanceListener {
    public func willRead(from committed: [AssignedPartition: CommittedOffset]) async {}
    public func missed(_ count: Int64, of partition: TopicPartition) async {}
    public func answered(_ kind: RebalanceKind, after time: Duration) async {}
}

/// The effect of a rebalance on the partitions that it concerns.
public enum RebalanceKind: String, CaseIterable, Sendable {
    case assigned
    case revoked
    case lost
}
