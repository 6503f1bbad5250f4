import ArgumentParser
import EventContract
import Kafka

/// The effects of moving a group's offsets, by partition.
struct ResetPlan {
    /// The change in one partition.
    struct Change: Sendable, Hashable {
        let partition: PartitionOffsets
        let to: Int64
        /// The number of done offsets that will be processed again.
        let redone: Int64
        /// The number of open offsets that will be skipped.
        let skipped: Int64
        /// Why `to` differs from the requested offset; `nil` if it does not.
        let clamping: String?
        /// False if the partition's commit is already the desired one.
        let isNeeded: Bool
    }

    /// Sorted like the partitions from which the plan was made.
    let changes: [Change]

    /// - Parameters:
    ///   - partitions: the current offsets of the group.
    ///   - targets: the desired offsets. A target outside the log is replaced by the nearest end of the log.
    init(_ partitions: [PartitionOffsets], targets: [TopicPartition: Int64]) {
        changes = partitions.compactMap { partition in
            targets[partition.id].map { Change(partition, target: $0) }
        }
    }

    var commits: [TopicPartition: CommittedOffset] {
        changes.filter(\.isNeeded).reduce(into: [:]) { commits, change in
            commits[change.partition.id] = CommittedOffset(change.to)
        }
    }

    var text: [String] {
        let hasTopics = Set(changes.map(\.partition.id.topic)).count > 1
        var table = TextTable([
            "topic", .right("partition"), .right("from"), .right("to"), .left("effect", maxWidth: 120),
        ])
        for change in changes {
            table.add([
                hasTopics ? change.partition.id.topic : "", "\(change.partition.id.partition)",
                change.partition.commit.map { "\($0.offset)" } ?? "none",
                "\(change.to)", change.words,
            ])
        }
        return table.lines
    }

    /// The number of requests that are processed again and skipped, in one clause.
    var summary: String {
        let redone = changes.reduce(Int64(0)) { $0.saturatingAdding($1.redone) }
        let skipped = changes.reduce(Int64(0)) { $0.saturatingAdding($1.skipped) }
        return "\(redone) requests are repeated, \(skipped) are skipped"
    }
}

extension ResetPlan.Change {
    fileprivate init(_ partition: PartitionOffsets, target: Int64) {
        let (bounds, commit) = (partition.bounds, partition.commit)
        let to = min(max(target, bounds.lowerBound), bounds.upperBound)
        self.partition = partition
        self.to = to
        isNeeded = commit != CommittedOffset(to)
        clamping =
            if target < bounds.lowerBound {
                "\(target) is deleted: the log begins at \(bounds.lowerBound)"
            } else if target > bounds.upperBound {
                "\(target) is not written yet: the log ends at \(bounds.upperBound)"
            } else {
                nil
            }

        guard let commit else {
            (redone, skipped) = (0, 0)
            return
        }
        let from = min(max(commit.offset, bounds.lowerBound), bounds.upperBound)
        // The new commit lists no done offsets, so all offsets done after it are processed again.
        let (read, rest) = (to..<max(to, from), max(to, from)..<bounds.upperBound)  // bounded: all are in `bounds`
        redone = Int64(read.count).saturatingAdding(partition.done(in: rest))
        let passed = from..<max(from, to)  // bounded: both are in `bounds`
        skipped = Int64(passed.count).saturatingSubtracting(partition.done(in: passed))
    }

    fileprivate var words: String {
        var words: [String] = []
        if redone > 0 { words.append("\(redone) repeated") }
        if skipped > 0 { words.append("\(skipped) skipped") }
        if partition.commit == nil { words.append("the group starts there") }
        if !isNeeded { words.append("unchanged") }
        if words.isEmpty { words.append(partition.commit?.offset == to ? "metadata cleared" : "nothing repeated") }
        if let clamping { words.append(clamping) }
        return words.joined(separator: "; ")
    }
}

/// The target to which a group's offsets are moved.
enum OffsetTarget: Sendable, Hashable {
    case earliest
    case latest
    /// The first record whose timestamp is at or after this time, in milliseconds since the Unix epoch.
    case time(Int64)
    /// The oldest record that is at most this old when the command begins.
    case ago(Duration)
    case offset(Int64)

    /// Parses `earliest`, `latest`, an offset, an RFC 3339 time, or an age such as `2h`.
    /// - Throws: a usage error that describes these forms.
    static func read(_ text: String) throws -> OffsetTarget {
        if text == "earliest" { return .earliest }
        if text == "latest" { return .latest }
        if let time = WallTime(rfc3339: Array(text.utf8)) { return .time(time.milliseconds) }
        if let duration = Duration(text: text) { return .ago(duration) }
        if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let offset = Int64(text) {
            return .offset(offset)
        }
        throw ValidationError(
            "--to takes earliest, latest, an offset such as 1200, a time with its zone such as 2026-11-21T09:30:00Z,"
                + " or a time ago such as 2h")
    }

    /// Returns the target time in milliseconds since the Unix epoch; `nil` if the target is not a time.
    func milliseconds(at now: WallTime) -> Int64? {
        switch self {
        case .time(let milliseconds): milliseconds
        case .ago(let duration): now.milliseconds.saturatingSubtracting(Int64(duration.milliseconds(roundedUp: false)))
        case .earliest, .latest, .offset: nil
        }
    }
}
