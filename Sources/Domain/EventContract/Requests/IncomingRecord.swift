/// A record as it came from the requests topic. Nothing in it is trusted. It shares the consumer's arrays and copies no
/// bytes.
public struct IncomingRecord: Sendable {
    /// The position of the record.
    public var source: SourcePosition
    /// The time at which the record was produced or appended, as the broker says; `nil` when it has no timestamp.
    public var timestamp: EventTime?
    /// The key; `nil` for a record without one.
    public var key: [UInt8]?
    /// The value; `nil` for a record without one.
    public var value: [UInt8]?
    /// The headers, in their order.
    public var headers: [EventHeader]

    /// A record from the requests topic.
    public init(
        source: SourcePosition, timestamp: EventTime? = nil, key: [UInt8]? = nil, value: [UInt8]?,
        headers: [EventHeader] = []
    ) {
        self.source = source
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The source of the event that the record is: who sent it. `nil` where the record does not say, as bare JSON never does.
    package var producer: String? {
        var reader = RequestReader(EventAttributes(headers))
        try? reader.read(value)
        return reader.attributes.source.flatMap { String(validating: $0, as: UTF8.self) }
    }
}

/// The position of a record. Together with the cluster, it names the record for ever.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    /// The name of the topic.
    public var topic: String
    /// The number of the partition.
    public var partition: Int32
    /// The offset within the partition.
    public var offset: Int64

    /// A position.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// The position as `topic-partition-offset`, which is the id of an outcome event.
    public var description: String { "\(topic)-\(partition)-\(offset)" }

    /// The description, its topic cut so that the whole keeps to the 128 characters of a `requestId`: topics may have names of up to 249 (ASCII) characters.
    var requestID: String {
        let position = "-\(partition)-\(offset)"
        // bounded: a position has at most 31 characters
        return String(topic.unicodeScalars.prefix(RequestMembers.idLength.upperBound - position.utf8.count)) + position
    }
}
