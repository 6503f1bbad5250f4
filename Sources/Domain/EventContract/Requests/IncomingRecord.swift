/// A record from the requests topic. Its content is untrusted. It shares the consumer's arrays and copies no bytes.
public struct IncomingRecord: Sendable {
    /// The position of the record.
    public var source: SourcePosition
    /// The record's timestamp, set by the producer or the broker; `nil` if it has none.
    public var timestamp: WallTime?
    /// The key; `nil` for a record without one.
    public var key: [UInt8]?
    /// The value; `nil` for a record without one.
    public var value: [UInt8]?
    /// The headers, in order.
    public var headers: [EventHeader]

    /// Makes a record of the requests topic.
    public init(
        source: SourcePosition, timestamp: WallTime? = nil, key: [UInt8]? = nil, value: [UInt8]?,
        headers: [EventHeader] = []
    ) {
        self.source = source
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The `source` of the event, which identifies its sender. `nil` if the record has none, such as bare JSON.
    package var producer: String? {
        var reader = RequestReader(EventAttributes(headers))
        try? reader.read(value)
        return reader.attributes.source.flatMap { String(validating: $0, as: UTF8.self) }
    }
}

/// The position of a record. Together with the cluster, it identifies the record permanently.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    /// The name of the topic.
    public var topic: String
    /// The number of the partition.
    public var partition: Int32
    /// The offset within the partition.
    public var offset: Int64

    /// Makes a position.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// The position as `topic-partition-offset`, which is the id of an outcome event.
    public var description: String { "\(topic)-\(partition)-\(offset)" }

    /// The description, with the topic shortened to keep within the 128 characters of a `requestId`. Topic names may have
    /// up to 249 (ASCII) characters.
    var requestID: String {
        let position = "-\(partition)-\(offset)"
        // bounded: a position has at most 31 characters
        return String(topic.unicodeScalars.prefix(RequestMembers.idLength.upperBound - position.utf8.count)) + position
    }
}
