internal import Basics

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
    /// The offset behind the record that was read last, or at which reading began.
    private(set) var nextOffset: Int64 = 0
    /// A record that is to be read before those in the queue.
    var kept: ConsumerRecord?
    /// The record at which reading went back, because the log ended before the wanted one: nothing more is read.
    var rewound: ConsumerRecord?
    /// True once it was found that a person has to decide about that.
    var isPaused = false
    /// Why the brokers refuse to commit offsets of this partition; `nil` where they do not.
    var commitRefusal: KafkaError?
    /// When the brokers have said that the topic is not there; `nil` where they have not.
    var missingSince: Instant?

    /// The offset that the broker confirmed last; `nil` until it is known that there is one.
    var committed: Int64?
    /// The offset at which reading begins where the group has committed nothing; `nil` until that is known, and where
    /// something is committed.
    var start: Int64?
    /// The end of the partition when the brokers were asked last; `nil` until that is known.
    var end: Int64?
    /// The offset that was stored last, unless the brokers have confirmed it.
    var uncommitted: CommittedOffset?

    init(_ partition: AssignedPartition, number: UInt32, queue: PartitionQueue) {
        self.partition = partition
        self.number = number
        self.queue = queue
    }

    /// True once the broker has said what is committed and where the partition ends.
    var isKnown: Bool { end != nil && (committed ?? start) != nil }

    /// How many records wait; `nil` until that is known.
    var lag: Int64? {
        guard let end, let begin = committed ?? start else { return nil }
        return max(0, end - begin)
    }

    /// What a person has to do something about; `nil` where nothing is.
    var problem: String? {
        isPaused ? "the group's offset is past the end of the log: nothing is read" : commitRefusal?.description
    }

    func begin(at start: ReadingStart) {
        awaitsStart = false
        if case .committed(let commit) = start { nextOffset = commit.offset }
    }

    /// Takes the oldest record out. One that was read before is left out: librdkafka may hand it over again.
    /// - Parameter isReset: says whether the log ended before an offset, so that it is another record.
    /// - Returns: `nil` when there is none, and where reading went back.
    func next(isReset: (_ nextOffset: Int64) -> Bool) throws(KafkaError) -> ConsumerRecord? {
        while rewound == nil {
            if kept == nil { kept = try queue.next(of: partition) }
            guard let record = kept else { return nil }
            kept = nil
            if record.offset >= nextOffset {
                nextOffset = record.offset + 1
                return record
            }
            if isReset(nextOffset) { rewound = record }
        }
        return nil
    }
}
