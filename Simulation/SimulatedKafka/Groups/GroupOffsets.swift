/// The committed offsets of a group, and those that open transactions are about to commit.
struct GroupOffsets {
    struct Committed {
        var offset: OffsetToCommit
        /// The position of the commit among all commits of the group: a later one wins over an earlier one.
        var position: Int64
    }

    private(set) var committed: [PartitionID: Committed] = [:]
    /// By producer id.
    private(set) var pending: [Int64: [PartitionID: Committed]] = [:]
    private var commits: Int64 = 0

    var isEmpty: Bool { committed.isEmpty && pending.isEmpty }

    mutating func commit(_ offset: OffsetToCommit, of partition: PartitionID) {
        commits += 1
        committed[partition] = Committed(offset: offset, position: commits)
    }

    mutating func commit(_ offset: OffsetToCommit, of partition: PartitionID, inTransactionOf producer: Int64) {
        commits += 1
        pending[producer, default: [:]][partition] = Committed(offset: offset, position: commits)
    }

    /// Ends the transaction of a producer. A later commit outside of it stays.
    mutating func end(_ result: TransactionResult, of producer: Int64) {
        guard let offsets = pending.removeValue(forKey: producer), result == .commit else { return }
        for (partition, offset) in offsets where (committed[partition]?.position ?? 0) < offset.position {
            committed[partition] = offset
        }
    }

    func isUnstable(_ partition: PartitionID) -> Bool { pending.values.contains { $0[partition] != nil } }

    mutating func forget(topic: String) {
        for partition in committed.keys where partition.topic == topic { committed[partition] = nil }
        for (producer, offsets) in pending {
            let kept = offsets.filter { $0.key.topic != topic }
            pending[producer] = kept.isEmpty ? nil : kept
        }
    }
}
