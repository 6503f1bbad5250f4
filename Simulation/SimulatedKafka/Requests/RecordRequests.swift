/// Produce.
package struct ProduceRequest: Hashable, Sendable {
    /// One batch; the protocol allows one for each partition.
    package struct Batch: Hashable, Sendable {
        package var partition: PartitionID
        package var producer = ProducerIdentity.none
        /// The sequence number of the first record; -1 without idempotence.
        package var baseSequence: Int32 = -1
        package var isTransactional = false
        package var records: [SimulatedRecord]

        package init(
            _ partition: PartitionID, _ records: [SimulatedRecord], producer: ProducerIdentity = .none,
            baseSequence: Int32 = -1, isTransactional: Bool = false
        ) {
            self.partition = partition
            self.records = records
            self.producer = producer
            self.baseSequence = baseSequence
            self.isTransactional = isTransactional
        }
    }

    package var transactionalID: String?
    /// -1: all replicas in sync, 1: the leader alone, 0: none.
    package var acks: Int16 = -1
    /// How long the leader waits for the other replicas.
    package var timeout: Int64 = 30 * ClusterRules.second
    package var batches: [Batch]

    package init(_ batches: [Batch], transactionalID: String? = nil, acks: Int16 = -1) {
        self.batches = batches
        self.transactionalID = transactionalID
        self.acks = acks
    }
}

package struct ProduceResponse: Hashable, Sendable {
    package struct Result: Hashable, Sendable {
        package var partition: PartitionID
        package var error: ErrorCode
        /// The offset of the batch's first record; -1 where it was not written.
        package var baseOffset: Int64 = -1
        package var logStart: Int64 = -1
    }
    package var results: [Result]
}

/// How long a client lets a fetch wait.
///
/// A client that finds nothing new asks the same again, as soon as it has its answer. Ten such fetches in a row are one here: most
/// of what a schedule would do else is to ask in vain. What would be different in the second of them, because the client wants
/// other partitions by then, has the wait end where the first one would have ended: see `SimulatedCluster.endSoon`.
package final class FetchPatience {
    /// `fetch.wait.max.ms`.
    let step: Int64
    /// True once the client wants to ask something else.
    var isOver = false

    var longest: Int64 { 10 * step }

    package init(step: Int64) { self.step = step }

    /// Has a fetch that is still to arrive wait for one step only.
    package func end() { isOver = true }
}

/// Fetch.
package struct FetchRequest: Hashable, Sendable {
    package enum Isolation: Hashable, Sendable {
        case readUncommitted
        case readCommitted
    }

    package struct Partition: Hashable, Sendable {
        package var partition: PartitionID
        /// The id of the topic that the client means; `nil` names it by its name alone, as before Fetch 13.
        package var topicID: UInt64?
        package var offset: Int64
        /// -1: the client does not say.
        package var leaderEpoch: Int32 = -1
        package var maxBytes = 1_048_576

        package init(
            _ partition: PartitionID, offset: Int64, topicID: UInt64? = nil, leaderEpoch: Int32 = -1,
            maxBytes: Int = 1_048_576
        ) {
            self.partition = partition
            self.offset = offset
            self.topicID = topicID
            self.leaderEpoch = leaderEpoch
            self.maxBytes = maxBytes
        }
    }

    package var isolation = Isolation.readCommitted
    /// How long the broker may wait for a first record.
    package var maxWait: Int64 = 0
    package var partitions: [Partition]

    package init(_ partitions: [Partition], isolation: Isolation = .readCommitted, maxWait: Int64 = 0) {
        self.partitions = partitions
        self.isolation = isolation
        self.maxWait = maxWait
    }
}

package struct FetchResponse: Hashable, Sendable {
    package struct Partition: Hashable, Sendable {
        package var partition: PartitionID
        package var error: ErrorCode
        package var highWatermark: Int64 = -1
        package var lastStableOffset: Int64 = -1
        package var logStart: Int64 = -1
        /// The id of the topic, which tells one from another of its name. Clients know nothing of it; judges do.
        package var topicID: UInt64 = 0
        /// The transactions whose records a reader of committed records must leave out.
        package var aborted: [AbortedTransaction] = []
        /// Everything that stands in the log, markers and records of aborted transactions included: leaving them out is
        /// the client's work.
        package var entries: [LogEntry] = []
    }
    package var partitions: [Partition]
}

/// ListOffsets.
package struct ListOffsetsRequest: Hashable, Sendable {
    package enum Query: Hashable, Sendable {
        case earliest
        /// The high watermark, or the last stable offset for a reader of committed records.
        case latest
        /// The first record whose timestamp is not before this one, in nanoseconds.
        case time(Int64)
    }
    package var isolation = FetchRequest.Isolation.readCommitted
    package var queries: [PartitionID: Query]

    package init(_ queries: [PartitionID: Query], isolation: FetchRequest.Isolation = .readCommitted) {
        self.queries = queries
        self.isolation = isolation
    }
}

package struct ListOffsetsResponse: Hashable, Sendable {
    package struct Result: Hashable, Sendable {
        package var error: ErrorCode
        /// -1 where no record fits.
        package var offset: Int64 = -1
    }
    package var results: [PartitionID: Result]
}

/// DeleteRecords: everything below the offset goes; -1 stands for the high watermark.
package struct DeleteRecordsRequest: Hashable, Sendable {
    package var offsets: [PartitionID: Int64]

    package init(_ offsets: [PartitionID: Int64]) { self.offsets = offsets }
}

package struct DeleteRecordsResponse: Hashable, Sendable {
    package struct Result: Hashable, Sendable {
        package var error: ErrorCode
        package var lowWatermark: Int64 = -1
    }
    package var results: [PartitionID: Result]
}
