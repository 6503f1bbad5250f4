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
