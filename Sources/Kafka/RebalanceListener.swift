/// Told of partitions that come and go, one call at a time. The group waits while a call runs; records and delivery
/// reports go on, and the client goes on being polled.
public protocol RebalanceListener: AnyObject, Sendable {
    /// Before the first record of them is read.
    func assigned(_ partitions: [AssignedPartition]) async
    /// Nothing more is read from them. What is stored when this returns is committed, then they go to other members.
    func revoked(_ partitions: [AssignedPartition]) async
    /// They are somebody else's already: nothing of them can be committed any more.
    func lost(_ partitions: [AssignedPartition]) async
}
