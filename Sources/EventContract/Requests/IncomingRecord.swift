/// A record as it came from the requests topic: all of it untrusted. Holds the consumer's arrays, copies no bytes.
public struct IncomingRecord: Sendable {
    public var source: SourcePosition
    /// When it was produced or appended, as the broker says; `nil` when the record has no timestamp.
    public var timestamp: EventTime?
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [EventHeader]

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
}

/// Where a record stands; with its cluster, this names it for ever.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    public var topic: String
    public var partition: Int32
    public var offset: Int64

    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// `topic-partition-offset`: the id of an outcome event.
    public var description: String { "\(topic)-\(partition)-\(offset)" }

    /// The same, cut to the 128 characters of a `requestId`: topics may have names of up to 249 (ASCII) characters.
    var requestID: String {
        let position = "-\(partition)-\(offset)"
        return String(topic.unicodeScalars.prefix(RequestMembers.idLength.upperBound - position.utf8.count)) + position
    }
}
