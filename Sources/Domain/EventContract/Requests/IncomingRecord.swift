/// A record from the requests topic. Its content is untrusted. It shares the consumer's arrays and copies no bytes.
public struct IncomingRecord: Sendable {
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
        (self.source, self.timestamp, self.key, self.value, self.headers) = (source, timestamp, key, value, headers)
    }

    /// The `source` of the event, which identifies its sender. `nil` if the record has none, such as bare JSON.
    package var producer: String? {
        var reader = RequestReader(EventAttributes(headers))
        try? reader.read(value)
        return reader.attributes.source.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
