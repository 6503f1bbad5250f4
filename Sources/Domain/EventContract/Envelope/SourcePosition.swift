import JSON

/// The position of a record. Together with the cluster, it identifies the record permanently.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    public var topic: String
    public var partition: Int32
    /// The offset within the partition.
    public var offset: Int64

    public init(topic: String, partition: Int32, offset: Int64) {
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
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

    /// Reads the headers that `PositionText` writes.
    /// - Returns: `nil` if one is missing or invalid.
    public init?(headers: [RecordHeader]) {
        guard let topic = headers.last(named: "source-topic")?.text, !topic.isEmpty,
            let partition = headers.last(named: "source-partition")?.text.flatMap({ Int32($0) }),
            let offset = headers.last(named: "source-offset")?.text.flatMap({ Int64($0) })
        else { return nil }
        self.init(topic: topic, partition: partition, offset: offset)
    }
}

extension ConsumerRecord {
    /// Makes a record that was not read by a group's member, such as one that a dead letter keeps.
    public init(
        source: SourcePosition, timestamp: WallTime? = nil, key: [UInt8]? = nil, value: [UInt8]?,
        headers: [RecordHeader] = []
    ) {
        self.init(
            partition: AssignedPartition(TopicPartition(source.topic, source.partition), epoch: 0),
            offset: source.offset, timestamp: timestamp?.milliseconds, key: key, value: value, headers: headers)
    }

    /// The record's position.
    public var source: SourcePosition {
        SourcePosition(topic: partition.id.topic, partition: partition.id.partition, offset: offset)
    }

    /// The record's timestamp; `nil` if it has none.
    public var time: WallTime? { timestamp.map { WallTime(milliseconds: $0) } }
}

/// A record's position as written to headers (`source-topic`, `source-partition`, `source-offset`) and to an event's id.
struct PositionText {
    let topic: [UInt8]
    let partition: [UInt8]
    let offset: [UInt8]

    init(_ position: SourcePosition) {
        topic = Array(position.topic.utf8)
        partition = Self.digits(of: Int64(position.partition))
        offset = Self.digits(of: position.offset)
    }

    private static func digits(of number: Int64) -> [UInt8] {
        [UInt8](atMost: 20) { text in
            if number < 0 { text.append(UInt8(ascii: "-")) }
            text.append(digitsOf: number.magnitude)
        }
    }

    /// The position as `topic-partition-offset`.
    var id: [UInt8] {
        let hyphen = UInt8(ascii: "-")
        var id: [UInt8] = []
        id.reserveCapacity(topic.count + partition.count + offset.count + 2)

        id.append(contentsOf: topic)
        id.append(hyphen)
        id.append(contentsOf: partition)
        id.append(hyphen)
        id.append(contentsOf: offset)
        return id
    }

    func append(to headers: inout [RecordHeader]) {
        headers.append(RecordHeader("source-topic", topic))
        headers.append(RecordHeader("source-partition", partition))
        headers.append(RecordHeader("source-offset", offset))
    }
}
