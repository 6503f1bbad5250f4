/// One assigned partition of a consumer: its queue of records and what is known of its offsets.
final class PartitionSource {
    let partition: AssignedPartition
    /// The number that the client's signal gives when the queue stops being empty.
    let number: UInt32
    let queue: PartitionQueue

    /// False once the queue was found empty, until the signal says otherwise.
    var mayHaveRecords = true
    /// True while its owner wants its records left where they are.
    var isHeld = false
    /// False from the revocation on: nothing is read.
    var isReadable = true
    /// True while it is not known where reading begins: nothing is read.
    var awaitsStart = false

    /// The offset that the broker confirmed last; `nil` until it is known that there is one.
    var committed: Int64?
    /// The offset at which reading begins where the group has committed nothing; `nil` until that is known, and where
    /// something is committed.
    var start: Int64?
    /// The end of the partition when it was assigned; `nil` until that is known.
    var endAtStart: Int64?
    /// The offset that was stored last, unless the brokers have confirmed it.
    var uncommitted: CommittedOffset?

    init(_ partition: AssignedPartition, number: UInt32, queue: PartitionQueue) {
        self.partition = partition
        self.number = number
        self.queue = queue
    }

    /// True once the broker has said what is committed and where the partition ends.
    var isKnown: Bool { endAtStart != nil && (committed ?? start) != nil }

    /// How many records wait; `nil` until that is known.
    var lag: Int64? {
        guard let endAtStart, let begin = committed ?? start else { return nil }
        return max(0, endAtStart - begin)
    }

}
