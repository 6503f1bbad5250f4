/// An offset that a group commits, or has committed, for a partition.
public struct CommittedOffset: Sendable, Hashable {
    /// The offset of the next record to read, one past the last finished one.
    public var offset: Int64
    /// The text that brokers keep beside the offset; empty where there is none. Brokers refuse more than
    /// `offset.metadata.max.bytes` of it, 4096 unless set otherwise.
    public var metadata: String

    public init(_ offset: Int64, metadata: String = "") {
        self.offset = offset
        self.metadata = metadata
    }
}

/// The text as fields with semicolons between them, of which one names the offset: `locsearch1;at=164;runs=BgGk`.
///
/// Tools such as MirrorMaker copy a text beside other offsets, where what it says is wrong. It counts only beside its own.
extension CommittedOffset {
    private static let baseField = "at="

    /// - Parameter fields: The fields of the text, without the one that names the offset. None: there is no text.
    package init(_ offset: Int64, fields: [String]) {
        let base = fields.isEmpty ? [] : ["\(Self.baseField)\(offset)"]
        self.init(offset, metadata: (fields.prefix(1) + base + fields.dropFirst()).joined(separator: ";"))
    }

    /// The offset that the text names, and its other fields. The offset is `nil` where the text names none, or several.
    package var textFields: (base: Int64?, others: [Substring]) {
        let all = metadata.split(separator: ";")
        let bases = all.filter { $0.hasPrefix(Self.baseField) }
        let base = bases.count == 1 ? Int64(bases[0].dropFirst(Self.baseField.count)) : nil
        return (base, all.filter { !$0.hasPrefix(Self.baseField) })
    }
}
