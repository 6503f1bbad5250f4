import Kafka
import WorkerRuntime

/// How far a group has come in one partition.
struct PartitionOffsets: Sendable, Hashable {
    let id: TopicPartition
    /// The log's first offset, and one past its last.
    let bounds: Range<Int64>
    /// `nil` where the group has committed nothing.
    let commit: CommittedOffset?
    /// The meaning of the metadata beside the committed offset.
    let reading: CommitMetadata.Reading

    init(_ id: TopicPartition, bounds: Range<Int64>, commit: CommittedOffset?) {
        self.id = id
        self.bounds = bounds
        self.commit = commit
        reading = commit.map { CommitMetadata.read($0) } ?? .nothing
    }

    /// The log's end less the committed offset, as Kafka's own tools count it; `nil` where nothing was committed.
    var lag: Int64? { commit.map { max(0, bounds.upperBound.saturatingSubtracting($0.offset)) } }

    /// How many offsets beyond the committed one are done.
    var doneBeyond: Int64 { done(in: bounds) }

    /// How many offsets a worker still has before it; `nil` where nothing was committed.
    var open: Int64? {
        commit.map { commit in
            let rest = min(max(bounds.lowerBound, commit.offset), bounds.upperBound)..<bounds.upperBound
            return Int64(rest.count) - done(in: rest)
        }
    }

    /// Returns how many offsets of a range are done although they lie beyond the committed one.
    func done(in range: Range<Int64>) -> Int64 {
        guard case .known(let metadata) = reading, let commit else { return 0 }
        var done = metadata.done
        done.removeAll(before: commit.offset)
        return done.runs.reduce(Int64(0)) { $0 + Int64($1.clamped(to: range).count) }
    }

    /// Returns true for an offset that the group has finished.
    func isDone(_ offset: Int64) -> Bool {
        guard let commit else { return false }
        return offset < commit.offset || done(in: offset..<offset.saturatingAdding(1)) > 0
    }

    /// Returns how many offsets below another one are open; all of the log's where nothing was committed.
    func open(before offset: Int64) -> Int64 {
        let first = max(bounds.lowerBound, commit?.offset ?? bounds.lowerBound)
        let rest = first..<max(first, min(offset, bounds.upperBound))
        return Int64(rest.count) - done(in: rest)
    }
}
