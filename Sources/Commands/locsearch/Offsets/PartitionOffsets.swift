import Kafka
import WorkerRuntime

/// The progress of a group in one partition.
struct PartitionOffsets: Sendable, Hashable {
    let id: TopicPartition
    /// The first offset of the log, and one past its last.
    let bounds: Range<Int64>
    /// `nil` if the group has committed nothing.
    let commit: CommittedOffset?
    /// The decoded metadata of the commit.
    let reading: CommitMetadata.Reading

    init(_ id: TopicPartition, bounds: Range<Int64>, commit: CommittedOffset?) {
        self.id = id
        self.bounds = bounds
        self.commit = commit
        reading = commit.map { CommitMetadata.read($0) } ?? .nothing
    }

    /// The end of the log minus the committed offset, as in Kafka's own tools; `nil` if nothing was committed.
    var lag: Int64? { commit.map { max(0, bounds.upperBound.saturatingSubtracting($0.offset)) } }

    /// The number of done offsets after the committed one.
    var doneBeyond: Int64 { done(in: bounds) }

    /// The number of offsets that still have to be processed; `nil` if nothing was committed.
    var open: Int64? {
        commit.map { commit in
            let rest = min(max(bounds.lowerBound, commit.offset), bounds.upperBound)..<bounds.upperBound
            return Int64(rest.count) - done(in: rest)
        }
    }

    /// Returns the number of offsets in a range that are done although they come after the committed one.
    func done(in range: Range<Int64>) -> Int64 {
        guard case .known(let metadata) = reading, let commit else { return 0 }
        var done = metadata.done
        done.removeAll(before: commit.offset)
        return done.runs.reduce(Int64(0)) { $0 + Int64($1.clamped(to: range).count) }
    }

    /// Returns true if the group has finished an offset.
    func isDone(_ offset: Int64) -> Bool {
        guard let commit else { return false }
        return offset < commit.offset || done(in: offset..<offset.saturatingAdding(1)) > 0
    }

    /// Returns the number of open offsets below another one. If nothing was committed, all offsets of the log count as
    /// open.
    func open(before offset: Int64) -> Int64 {
        let first = max(bounds.lowerBound, commit?.offset ?? bounds.lowerBound)
        let rest = first..<max(first, min(offset, bounds.upperBound))
        return Int64(rest.count) - done(in: rest)
    }
}
