/// A record in the dead-letter topic that says that a dead letter of it went back to the requests topic. The topic so
/// keeps its own account: whoever redrives next, from wherever and with whatever filter, sees what is done.
public struct RedriveMark: Sendable, Hashable {
    /// Of the dead letter.
    public let partition: Int32
    public let offset: Int64

    private static let header = "dead-letter-redriven"

    public init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// The mark's only header; key and value are null.
    public var headers: [EventHeader] { [EventHeader(Self.header, text: "\(partition)/\(offset)")] }

    /// - Returns: `nil` when the record is no mark.
    public init?(value: [UInt8]?, headers: [EventHeader]) {
        guard value == nil, headers.count == 1, let first = headers.first, first.name == Self.header,
            let parts = first.text?.split(separator: "/"), parts.count == 2, let partition = Int32(parts[0]),
            let offset = Int64(parts[1])
        else { return nil }
        self.init(partition: partition, offset: offset)
    }
}
