import Kafka
import WorkerRuntime

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
        if notes.tries > 1 {
            let workers = notes.tries == 2 ? "1 worker" : "\(notes.tries - 1) workers"
            words.append("\(workers) crashed while owning it")
        }
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
        if let end = done.end {
            let runs = done.runs.count
            words.append("done up to \(end - 1) but for \(runs == 1 ? "1 gap" : "\(runs) gaps")")
        }
        words += Self.words(of: metadata.crashes)
        if !metadata.startNote.isEmpty {
            let partitions = metadata.startNote.drop { !$0.isNumber }
            words.append("the group started with \(partitions) partitions, and has finished nothing of this one")
        }
        return words + otherFields(of: commit.metadata).map { "field of a later version: \($0)" }
    }

    /// Returns the metadata fields that this version does not know. They were written by workers of another version.
    private static func otherFields(of text: String) -> [Substring] {
        let fields = text.split(separator: ";")
        return fields.enumerated().filter { index, field in
            let isHeader = index == 0 && field.hasPrefix("locsearch")
            let isKnown = [
                "at=", "runs=", "bits=", "began with ", "tries=", "begun=", "running=", "alone=", "suspect=",
            ]
            .contains {
                field.hasPrefix($0)
            }
            return !isHeader && !isKnown
        }.map(\.element)
    }
}
