/// One assigned partition of a consumer: its queue of records and what is known of its offsets.
final class PartitionSource {
    let partition: AssignedPartition
    /// What the client's signal says when the queue stops being empty.
    let number: UInt32
    let queue: PartitionQueue

    /// False once the queue was found empty, until the signal says otherwise.
    var mayHaveRecords = true
    /// True while its owner wants its records left where they are.
    var isHeld = false
    /// True from the revocation on: nothing more is read.
    var isRevoked = false

    /// The offset that the broker confirmed last; `nil` until it is known that there is one.
    var committed: Int64?
    /// The offset stored last for the next commit.
    var stored: Int64?

    init(_ partition: AssignedPartition, number: UInt32, queue: PartitionQueue) {
        self.partition = partition
        self.number = number
        self.queue = queue
    }

    var hasUncommitted: Bool { stored != nil && stored != committed }
}
