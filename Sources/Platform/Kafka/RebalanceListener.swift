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
    /// - Parameter offsets: those that were left out. Not each of them need have held a record.
    /// - Returns: how many of them were not done before.
    func missed(_ offsets: Range<Int64>, of partition: TopicPartition) async -> Int64
    /// The topic of an assigned partition was deleted and made again, so that offsets read before say nothing of it. Called before its first
    /// record is read, which is of the renewed assignment. What is stored for the former one is not committed.
    func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async
}

extension RebalanceListener {
    public func willRead(from committed: [AssignedPartition: CommittedOffset]) async {}
    public func missed(_ offsets: Range<Int64>, of partition: TopicPartition) async -> Int64 { Int64(offsets.count) }
    public func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async {}
    public func answered(_ kind: RebalanceKind, after time: Duration) async {}
}

/// The effect of a rebalance on the partitions that it concerns.
public enum RebalanceKind: String, CaseIterable, Sendable {
    case assigned
    case revoked
    case lost
}
