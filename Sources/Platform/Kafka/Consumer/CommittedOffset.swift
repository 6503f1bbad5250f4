/// An offset that a group commits, or has committed, for a partition.
public struct CommittedOffset: Sendable, Hashable {
    /// The offset of the next record to read, one past the last finished one.
    public var offset: Int64
    /// The text that brokers store with the offset; empty if there is none. Brokers reject more than
    /// `offset.metadata.max.bytes` of it, 4096 by default.
    public var metadata: String

    public init(_ offset: Int64, metadata: String = "") {
        self.offset = offset
        self.metadata = metadata
    }
}

/// The metadata as fields separated by semicolons, one of which repeats the offset: `locsearch1;at=164;runs=BgGk`.
///
/// Tools such as MirrorMaker copy metadata to other offsets, for which it is wrong. Therefore it is valid only if its
/// field names the offset that it is stored with.
extension CommittedOffset {
    private static let baseField = "at="

    /// - Parameter fields: The fields of the metadata, except the one that repeats the offset. If empty, there is no
    ///   metadata.
    package init(_ offset: Int64, fields: [String]) {
        let base = fields.isEmpty ? [] : ["\(Self.baseField)\(offset)"]
        self.init(offset, metadata: (fields.prefix(1) + base + fields.dropFirst()).joined(separator: ";"))
    }

    /// The offset that the metadata names, and its other fields. The offset is `nil` if the metadata names none or
    /// several.
    package var textFields: (base: Int64?, others: [Substring]) {
        let all = metadata.split(separator: ";")
        let bases = all.filter { $0.hasPrefix(Self.baseField) }
        let base = bases.count == 1 ? Int64(bases[0].dropFirst(Self.baseField.count)) : nil
        return (base, all.filter { !$0.hasPrefix(Self.baseField) })
    }
}
