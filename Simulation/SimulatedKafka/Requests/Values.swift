/// A partition of a topic, by the topic's name.
package struct PartitionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var topic: String
    package var partition: Int32

    package init(_ topic: String, _ partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    package var description: String { "\(topic)[\(partition)]" }

    /// Hashes the length of the name in place of the name. A cluster has few topics, and hashing their names at each request would
    /// take longer than what the request does.
    private var shortHash: Int { (topic.utf8.count << 32 | Int(partition)).scrambled }

    package func hash(into hasher: inout Hasher) { hasher.combine(shortHash) }

    // What tables of the standard library ask for. A `Hasher` would take longer than the rest of a look-up.
    package func _rawHashValue(seed: Int) -> Int { shortHash ^ seed }

    package static func < (a: PartitionID, b: PartitionID) -> Bool { (a.topic, a.partition) < (b.topic, b.partition) }
}

/// A header of a record.
package struct SimulatedHeader: Hashable, Sendable {
    package var name: String
    package var value: [UInt8]?

    package init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

/// A record as it is written.
package struct SimulatedRecord: Hashable, Sendable {
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [SimulatedHeader]
    /// Nanoseconds of virtual time; `nil`: none.
    package var timestamp: Int64?

    package init(
        key: [UInt8]? = nil, value: [UInt8]?, headers: [SimulatedHeader] = [], timestamp: Int64? = nil
    ) {
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }

    /// The size that counts against the largest batch: an estimate that grows with every byte of the record.
    package var size: Int {
        headers.reduce(12 + (key?.count ?? 0) + (value?.count ?? 0)) {
            $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 4
        }
    }
}

/// How a transaction ended: the two kinds of markers.
package enum TransactionResult: Hashable, Sendable {
    case commit
    case abort
}

/// One offset of a log that still holds something.
package struct LogEntry: Hashable, Sendable {
    package var offset: Int64
    package var record: SimulatedRecord
    /// The leader's epoch when the entry was written.
    package var leaderEpoch: Int32 = 0
    /// -1: the record has no idempotent producer.
    package var producerID: Int64 = -1
    package var producerEpoch: Int16 = -1
    package var isTransactional = false
    /// The entry is no record but the end of a transaction; `nil` for a record.
    package var marker: TransactionResult?
}

/// A transaction that was aborted: records of its producer from `firstOffset` to the next marker of the same producer do
/// not count.
package struct AbortedTransaction: Hashable, Sendable {
    package var producerID: Int64
    package var firstOffset: Int64
    /// The offset of the marker.
    package var lastOffset: Int64

    package init(producerID: Int64, firstOffset: Int64, lastOffset: Int64) {
        self.producerID = producerID
        self.firstOffset = firstOffset
        self.lastOffset = lastOffset
    }
}

/// A producer's identity with idempotence.
package struct ProducerIdentity: Hashable, Sendable {
    package var id: Int64
    package var epoch: Int16

    package init(id: Int64, epoch: Int16) {
        self.id = id
        self.epoch = epoch
    }

    package static let none = ProducerIdentity(id: -1, epoch: -1)
}

/// What one principal is not allowed to do. The model has one principal, which may do everything else.
package enum Permission: Hashable, Sendable {
    case readTopic(String)
    case writeTopic(String)
    case describeTopic(String)
    case readGroup(String)
    case writeTransactionalID(String)
    case createTopics
}

extension Int {
    /// Another number, whose low bits depend on all bits of this one.
    fileprivate var scrambled: Int {
        let product = self &* 0x1E37_79B9_7F4A_7C15
        return product ^ (product >> 32)
    }
}

extension String {
    /// A hash of a short name, which takes a fraction of what a `Hasher` does.
    package var shortHash: Int { utf8.reduce(7) { ($0 &* 31) &+ Int($1) }.scrambled }
}
