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
    /// The time for which the leader waits for the other replicas.
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
        /// The offset of the batch's first record; -1 if it was not written.
        package var baseOffset: Int64 = -1
        package var logStart: Int64 = -1
    }
    package var results: [Result]
}

/// The time for which a client lets a fetch wait.
///
/// A client that receives no records sends the same fetch again at once. The model combines ten such fetches in a row, because they
/// would be most of a schedule's work. If the client needs other partitions meanwhile, the wait ends where the current one of the ten
/// fetches would have ended: see `SimulatedCluster.endSoon`.
package final class FetchTimeout {
    /// `fetch.wait.max.ms`.
    let step: Int64
    /// True once the client needs a different fetch.
    var isOver = false

    var longest: Int64 { 10 * step }

    package init(step: Int64) { self.step = step }

    /// Limits a fetch that has not arrived yet to one step.
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
        /// The id of the topic that the client means; `nil`: only the name, as before Fetch 13.
        package var topicID: UInt64?
        package var offset: Int64
        /// -1: not given.
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
    /// The time for which the broker may wait for a first record.
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
        /// The id of the topic, which distinguishes it from others of the same name. Clients do not use it; the judge does.
        package var topicID: UInt64 = 0
        /// The transactions whose records a reader of committed records must skip.
        package var aborted: [AbortedTransaction] = []
        /// All entries of the log, including markers and records of aborted transactions, which the client skips.
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
        /// -1 if no record matches.
        package var offset: Int64 = -1
    }
    package var results: [PartitionID: Result]
}

/// DeleteRecords: deletes everything below the offset; -1 stands for the high watermark.
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
