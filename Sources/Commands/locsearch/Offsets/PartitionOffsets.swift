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
        (self.id, self.bounds, self.commit) = (id, bounds, commit)
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

/// Describes a commit in words.
extension PartitionOffsets {
    /// The kind of metadata in the commit: `none`, `worker`, `copied` or `foreign`.
    var metadataKind: String {
        switch reading {
        case .nothing: "none"
        case .known: "worker"
        case .copied: "copied"
        case .foreign: "foreign"
        }
    }

    /// One clause for each remarkable fact; empty if there is none.
    var words: [String] {
        guard let commit else { return ["nothing committed"] }

        var words: [String] = []
        if commit.offset < bounds.lowerBound {
            let deleted = commit.offset..<bounds.lowerBound
            words.append("\(Int64(deleted.count) - done(in: deleted)) were deleted before they were finished")
        } else if commit.offset > bounds.upperBound {
            words.append("the offset is beyond the end of the log: was the topic recreated?")
        }

        switch reading {
        case .nothing: break
        case .known(let metadata): words += Self.words(of: metadata, at: commit)
        case .copied: words.append("copied from another offset by a tool, and ignored by workers: \(commit.metadata)")
        case .foreign: words.append("foreign metadata, which workers ignore: \(commit.metadata)")
        }
        return words
    }

    /// A first try is not mentioned, because every partition with a worker has one.
    private static func words(of notes: CrashNotes) -> [String] {
        var words: [String] = []
        if notes.tries > 1 { words.append("\((notes.tries - 1).counted("worker")) crashed while owning it") }
        if let begun = notes.begun { words.append("started up to \(begun - 1)") }
        if !notes.running.isEmpty {
            let first = notes.running.prefix(10).map(String.init).joined(separator: ", ")
            let others = notes.running.count - 10
            words.append("possibly in flight: \(first)\(others > 0 ? " and \(others) more" : "")")
        }
        if let suspect = notes.suspect {
            let ends = suspect.ends > 0 ? "; crashes: \(suspect.ends)" : ""
            words.append("\(suspect.isRunning ? "runs" : "ran") \(suspect.offset) separately\(ends)")
        }
        return words
    }

    private static func words(of metadata: CommitMetadata, at commit: CommittedOffset) -> [String] {
        var words: [String] = []
        var done = metadata.done
        done.removeAll(before: commit.offset)
        if let end = done.end { words.append("done up to \(end - 1) but for \(done.runs.count.counted("gap"))") }
        words += Self.words(of: metadata.crashes)
        return words + otherFields(of: commit.metadata).map { "field of a later version: \($0)" }
    }

    /// Returns the metadata fields that this version does not know. They were written by workers of another version.
    private static func otherFields(of text: String) -> [Substring] {
        let fields = text.split(separator: ";")
        return fields.enumerated().filter { index, field in
            let isHeader = index == 0 && field.hasPrefix("locsearch")
            let known = ["at=", "runs=", "bits=", "tries=", "begun=", "running=", "alone=", "suspect="]
            let isKnown = known.contains { field.hasPrefix($0) }
            return !isHeader && !isKnown
        }.map(\.element)
    }
}
