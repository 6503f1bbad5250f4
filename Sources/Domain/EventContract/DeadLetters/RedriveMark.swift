/// A record in the dead-letter topic that marks one of its dead letters as sent back to the requests topic. The next
/// redrive, from any machine and with any filter, reads these marks.
public struct RedriveMark: Sendable, Hashable {
    /// The partition of the dead letter.
    public let partition: Int32
    /// The offset of the dead letter.
    public let offset: Int64

    private static let header = "dead-letter-redriven"

    /// Marks the dead letter at this position as sent again.
    public init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// The only header of the mark's record, whose key and value are null.
    public var headers: [EventHeader] { [EventHeader(Self.header, text: "\(partition)/\(offset)")] }

    /// Reads a record of the dead-letter topic.
    /// - Returns: `nil` if the record is not a mark.
    public init?(value: [UInt8]?, headers: [EventHeader]) {
        guard value == nil, headers.count == 1, let first = headers.first, first.name == Self.header,
            let parts = first.text?.split(separator: "/"), parts.count == 2, let partition = Int32(parts[0]),
            let offset = Int64(parts[1])
        else { return nil }
        self.init(partition: partition, offset: offset)
    }
}
