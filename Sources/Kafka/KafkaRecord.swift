/// One header of a record. Names may repeat.
package struct KafkaHeader: Sendable, Hashable {
    package var name: String
    package var value: [UInt8]?

    package init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

/// A partition of a topic.
package struct TopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var topic: String
    package var partition: Int32

    package init(_ topic: String, _ partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    package var description: String { "\(topic)[\(partition)]" }

    package static func < (a: TopicPartition, b: TopicPartition) -> Bool {
        (a.topic, a.partition) < (b.topic, b.partition)
    }
}

/// A partition for as long as it is assigned: when it comes back it has a new epoch, so that what is late for the old
/// assignment cannot be taken for the new.
package struct AssignedPartition: Sendable, Hashable, CustomStringConvertible {
    package let id: TopicPartition
    package let epoch: UInt32

    package init(_ id: TopicPartition, epoch: UInt32) {
        self.id = id
        self.epoch = epoch
    }

    package var description: String { "\(id)@\(epoch)" }
}

/// A record as read. Its bytes are ours, copied once.
package struct ConsumerRecord: Sendable, Hashable {
    package var partition: AssignedPartition
    package var offset: Int64
    /// Milliseconds since the Unix epoch; `nil` when the record has none.
    package var timestamp: Int64?
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [KafkaHeader]

    package init(
        partition: AssignedPartition, offset: Int64, timestamp: Int64? = nil, key: [UInt8]? = nil,
        value: [UInt8]? = nil, headers: [KafkaHeader] = []
    ) {
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// A record to be written.
package struct ProducerRecord: Sendable, Hashable {
    package var topic: String
    /// `nil`: by the key's hash.
    package var partition: Int32?
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [KafkaHeader]
    /// Milliseconds since the Unix epoch; `nil`: now.
    package var timestamp: Int64?

    package init(
        topic: String, partition: Int32? = nil, key: [UInt8]? = nil, value: [UInt8]?, headers: [KafkaHeader] = [],
        timestamp: Int64? = nil
    ) {
        self.topic = topic
        self.partition = partition
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }
}

/// Where a record went.
package struct RecordPosition: Sendable, Hashable {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}
