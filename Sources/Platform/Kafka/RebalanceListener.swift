/// Receives the rebalances of a consumer, one call at a time.
///
/// The group waits for each call. Records and delivery reports continue, and the client is still polled, so a call may
/// take as long as `max.poll.interval.ms` allows.
public protocol RebalanceListener: AnyObject, Sendable {
    /// Called when partitions were assigned, before their first record is read.
    func assigned(_ partitions: [AssignedPartition]) async
    /// Called when reading is about to begin in assigned partitions, with their committed offsets. Partitions without a
    /// committed offset are left out.
    ///
    /// Called after `assigned`, and before the first record is read. This may be much later, and may include partitions
    /// whose assignment has ended in the meantime.
    func willRead(from committed: [AssignedPartition: CommittedOffset]) async
    /// Called when partitions are about to move to other members. They are not read any more. Offsets stored before
    /// this returns are committed; then the partitions are released.
    func revoked(_ partitions: [AssignedPartition]) async
    /// Called when partitions already belong to other members. Their offsets cannot be committed any more.
    func lost(_ partitions: [AssignedPartition]) async
    /// Called when the rebalance that one of the calls above began has been answered. Not called if no partition was
    /// affected.
    /// - Parameter time: The time from the rebalance event to its answer, including the listener's own work.
    func answered(_ kind: RebalanceKind, after time: Duration) async
    /// Called when the broker deleted records of a partition before they were read, and reading continues after them.
    /// - Parameter offsets: The skipped offsets. Not all of them need to have held a record.
    /// - Returns: How many of them were not processed before.
    func missed(_ offsets: Range<Int64>, of partition: TopicPartition) async -> Int64
    /// Called when reading has reached the end of a partition, and offsets between the last read record and that end hold no
    /// record: transaction markers, aborted transactions, deleted records.
    func passed(_ offsets: Range<Int64>, of partition: AssignedPartition) async
    /// Called when the topic of an assigned partition was deleted and created again, so that earlier offsets have no
    /// meaning for it. Called before the first record of the renewed assignment is read. Offsets stored for the former
    /// one are not committed.
    func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async
}

extension RebalanceListener {
    public func willRead(from committed: [AssignedPartition: CommittedOffset]) async {}
    public func missed(_ offsets: Range<Int64>, of partition: TopicPartition) async -> Int64 { Int64(offsets.count) }
    public func passed(_ offsets: Range<Int64>, of partition: AssignedPartition) async {}
    public func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async {}
    public func answered(_ kind: RebalanceKind, after time: Duration) async {}
}

/// The effect of a rebalance on the partitions that it concerns.
public enum RebalanceKind: String, CaseIterable, Sendable {
    case assigned
    case revoked
    case lost
}
