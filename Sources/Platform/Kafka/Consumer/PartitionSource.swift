internal import Basics

/// The offsets of a partition that its group has committed, or will commit.
struct GroupOffsets {
    /// The last committed offset; `nil` while it is unknown, or if there is none.
    var committed: Int64?
    /// The start offset of a partition without a committed offset; `nil` while it is unknown, or if there is a
    /// committed offset.
    var start: Int64?
    /// The partition's end at the last lookup; `nil` while it is unknown.
    var end: Int64?
    /// The last stored offset; `nil` once it is committed.
    var uncommitted: CommittedOffset?

    /// True once the broker has returned the committed offset (or the start) and the end.
    var areKnown: Bool { end != nil && (committed ?? start) != nil }
}

/// Where reading of a partition begins.
///
/// This lookup is never left to librdkafka (2.0.2 to 2.15). While a transaction blocks a group's offsets, librdkafka
/// requests them repeatedly. If a rebalance arrives meanwhile, it interprets the answer to an older request as "nothing
/// is committed". It then begins at `auto.offset.reset` (`rd_kafka_assignment_apply_offsets`), and every outcome of the
/// partition would be published twice.
enum ReadingStart: Sendable, Hashable {
    /// The group's committed offset.
    case committed(CommittedOffset)
    /// The oldest record.
    case beginning
    /// Unknown. The partition may not be read before `ClientHandle.seek` has set another start.
    case unknown
}

/// One assigned partition of a consumer: its record queue and its known offsets.
final class PartitionSource {
    let partition: AssignedPartition
    /// The number that the client's signal uses for this queue.
    let number: UInt32
    let queue: PartitionQueue

    /// True from a signal until the next read that finds no record, or may not read.
    var mayHaveRecords = false
    /// True while `hold` stops the reading.
    var isHeld = false
    /// False from the revocation on; then nothing is read.
    var isReadable = true
    /// True while the start offset is unknown; then nothing is read.
    var awaitsStart = false
    /// The offset after the last read record, or the start offset.
    private(set) var nextOffset: Int64 = 0
    /// The end up to which no offset from `nextOffset` on holds a record.
    private var passedEnd: Int64 = 0
    /// A record to return before those in the queue.
    var kept: ConsumerRecord?
    /// The record at which reading went back because the log ended before the wanted offset. Reading stops there.
    var rewound: ConsumerRecord?
    /// True if an operator must decide how to continue after that.
    var isPaused = false
    /// Why the brokers reject offset commits of this partition; `nil` if they do not.
    var commitRefusal: KafkaError?
    /// When the brokers last reported that the topic does not exist; `nil` if they have accepted a commit since.
    var missingSince: Instant?

    var offsets = GroupOffsets()

    init(_ partition: AssignedPartition, number: UInt32, queue: PartitionQueue) {
        (self.partition, self.number, self.queue) = (partition, number, queue)
    }

    /// A problem that needs an operator; `nil` if there is none.
    var problem: String? {
        isPaused
            ? "the committed offset is past the end of the log: the partition is paused" : commitRefusal?.description
    }

    func begin(at start: ReadingStart) {
        awaitsStart = false
        if case .committed(let commit) = start { nextOffset = commit.offset }
    }

    /// Removes and returns the oldest record. Skips records that were read before, because librdkafka may return them
    /// again.
    /// - Parameter isReset: Returns whether the log ended before an offset, so that the record is a different one.
    /// - Returns: `nil` if there is no record, or reading went back.
    func next(isReset: (_ nextOffset: Int64) -> Bool) throws(KafkaError) -> ConsumerRecord? {
        while case .none = rewound {
            var next = kept.take()
            if case .none = next { next = try queue.next(of: partition) }
            guard let record = next else { return nil }
            let isBack = record.offset < max(nextOffset, passedEnd) && isReset(max(nextOffset, passedEnd))
            if isBack {
                rewound = record
            } else if record.offset >= nextOffset {
                nextOffset = record.offset + 1
                return record
            }
        }
        return nil
    }

    /// Removes and returns the offsets from the last read record to the end of the partition, if reading has reached it and
    /// they are not empty.
    func takeGap() -> Range<Int64>? {
        guard let end = queue.end.take(), end > nextOffset else { return nil }
        passedEnd = end
        return nextOffset..<end
    }
}
