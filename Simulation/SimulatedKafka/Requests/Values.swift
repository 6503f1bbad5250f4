/// A partition of a topic, by the topic's name.
package struct PartitionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var topic: String
    package var partition: Int32

    package init(_ topic: String, _ partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    package var description: String { "\(topic)[\(partition)]" }

    /// Uses the length of the name in place of the name. A cluster has few topics, and hashing their names at each
    /// request would take longer than the request.
    private var shortHash: Int { (topic.utf8.count << 32 | Int(partition)).scrambled }

    package func hash(into hasher: inout Hasher) { hasher.combine(shortHash) }

    // Called by the standard library's tables. A `Hasher` would take longer than the rest of a look-up.
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

/// A record as the producer writes it.
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

    /// An estimate of the record's size, for the limit on batches. It grows with every byte of the record.
    package var size: Int {
        headers.reduce(12 + (key?.count ?? 0) + (value?.count ?? 0)) {
            $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 4
        }
    }
}

/// The result of a transaction: the two kinds of markers.
package enum TransactionResult: Hashable, Sendable {
    case commit
    case abort
}

/// An entry of a log.
package struct LogEntry: Hashable, Sendable {
    package var offset: Int64
    package var record: SimulatedRecord
    /// The leader's epoch when the entry was written.
    package var leaderEpoch: Int32 = 0
    /// -1: the record has no idempotent producer.
    package var producerID: Int64 = -1
    package var producerEpoch: Int16 = -1
    package var isTransactional = false
    /// The result of a transaction, if the entry is a marker; `nil` for a record.
    package var marker: TransactionResult?
}

/// An aborted transaction. Readers skip its producer's records from `firstOffset` to that producer's next marker.
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

/// The identity of an idempotent producer.
package struct ProducerIdentity: Hashable, Sendable {
    package var id: Int64
    package var epoch: Int16

    package init(id: Int64, epoch: Int16) {
        self.id = id
        self.epoch = epoch
    }

    package static let none = ProducerIdentity(id: -1, epoch: -1)
}

/// A permission that can be denied. The model has one principal, which otherwise may do everything.
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
    /// A hash of a short name. It takes a fraction of the time of a `Hasher`.
    package var shortHash: Int { utf8.reduce(7) { ($0 &* 31) &+ Int($1) }.scrambled }
}
