/// A partition of a topic.
public struct TopicPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The topic's name.
    public var topic: String
    /// The partition's number, from 0.
    public var partition: Int32

    @inlinable
    public init(_ topic: String, _ partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    public var description: String { "\(topic)[\(partition)]" }

    /// Omits the topic: a table of partitions has few topics, and hashing a string costs more than the rest of a
    /// lookup.
    public func hash(into hasher: inout Hasher) { hasher.combine(partition) }

    public static func < (a: TopicPartition, b: TopicPartition) -> Bool {
        (a.topic, a.partition) < (b.topic, b.partition)
    }
}

/// A partition during one assignment. Each assignment has a new epoch, so that late results for an old assignment are
/// not mistaken for the new one.
public struct AssignedPartition: Sendable, Hashable, CustomStringConvertible {
    public let id: TopicPartition
    /// The number of the assignment, counted by its consumer.
    public let epoch: UInt32

    @inlinable
    public init(_ id: TopicPartition, epoch: UInt32) {
        self.id = id
        self.epoch = epoch
    }

    public var description: String { "\(id)@\(epoch)" }
}

/// A consumed record. It owns its bytes, which were copied once from librdkafka.
public struct ConsumerRecord: Sendable, Hashable {
    /// The partition that the record was read from, with the epoch of its assignment.
    public var partition: AssignedPartition
    /// The headers in the order in which they were written.
    public var headers: [RecordHeader]
    /// The record's position in its partition, from 0. At most 2^61, so that arithmetic on it cannot overflow.
    public var offset: Int64
    /// The key's bytes; `nil` is null, which differs from an empty key.
    public var key: [UInt8]?
    /// The value's bytes; `nil` is null, which differs from an empty value.
    public var value: [UInt8]?
    /// Milliseconds since the Unix epoch, within the years 1 to 9999; `nil` if the record has none. Set by the record's
    /// writer.
    public var timestamp: Int64?
}

extension ConsumerRecord {
    // In an extension, where it can call the implicit initializer. Swift 6.3 copies the whole value in an explicit one
    // that is part of the declaration.
    public init(
        partition: AssignedPartition, offset: Int64, timestamp: Int64? = nil, key: [UInt8]? = nil,
        value: [UInt8]? = nil, headers: [RecordHeader] = []
    ) {
        self.init(
            partition: partition, headers: headers, offset: offset, key: key, value: value, timestamp: timestamp)
    }
}

/// A record to be written.
public struct ProducerRecord: Sendable, Hashable {
    public var topic: String
    /// The partition to write to; `nil` chooses it by the key's hash.
    public var partition: Int32?
    /// Milliseconds since the Unix epoch; `nil` uses the time of writing.
    public var timestamp: Int64?
    /// The key's bytes; `nil` is null, which differs from an empty key.
    public var key: [UInt8]?
    /// The value's bytes; `nil` is null, which differs from an empty value.
    public var value: [UInt8]?
    /// The headers, written in this order.
    public var headers: [RecordHeader]
}

extension ProducerRecord {
    // In an extension for the same reason as that of `ConsumerRecord`.
    public init(
        topic: String, partition: Int32? = nil, key: [UInt8]? = nil, value: [UInt8]?, headers: [RecordHeader] = [],
        timestamp: Int64? = nil
    ) {
        self.init(
            topic: topic, partition: partition, timestamp: timestamp, key: key, value: value, headers: headers)
    }
}

/// Where a record was written.
public struct RecordPosition: Sendable, Hashable {
    /// The partition's number, from 0.
    public var partition: Int32
    /// The record's position in its partition, from 0.
    public var offset: Int64

    @inlinable
    public init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}

/// One header of a record. A record may have several headers with the same name.
public struct RecordHeader: Sendable, Hashable {
    /// The name of the header, which may be empty.
    public var name: String
    /// The value, usually UTF-8 text; `nil` is null, which differs from an empty value.
    public var value: [UInt8]?

    /// Makes a header from bytes, or from null.
    @inlinable
    public init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    public init(_ name: String, text: String) {
        self.init(name, Array(text.utf8))
    }

    /// The value as text; `nil` if there is none, or it is not UTF-8.
    public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}

extension [RecordHeader] {
    /// Returns the last header with this name, which is the one that Kafka's clients use for a repeated name.
    public func last(named name: String) -> RecordHeader? {
        last { $0.name == name }
    }
}
