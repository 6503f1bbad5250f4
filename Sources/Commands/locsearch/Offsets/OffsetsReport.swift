import JSON
import Kafka
import WorkerRuntime

/// Formats a group's offsets in each partition of its topics, as text and as JSON.
struct OffsetsReport {
    let group: String
    /// Contains at least one topic.
    let topics: [RequestTopic]
    let presence: GroupPresence
    /// Sorted by topic, in the order of `topics`, then by partition.
    let partitions: [PartitionOffsets]

    /// The topic names, separated by commas.
    var names: String { topics.names }

    func partitions(of topic: RequestTopic) -> [PartitionOffsets] {
        partitions.filter { $0.id.topic == topic.name }
    }

    // MARK: - Text output

    var text: [String] { heading + [""] + table }

    private var heading: [String] {
        let all = topics.count > 1 ? ["all topics: \(Self.sums(of: partitions))"] : []
        let each = topics.map { topic in
            let classes = topics.count > 1 ? " (\(topic.classText))" : ""
            return "topic \(topic.name)\(classes): \(Self.sums(of: partitions(of: topic)))"
        }
        return (["group \(group): \(presence.words)"] + each + all).map { TerminalText.safe($0) }
    }

    private static func sums(of partitions: [PartitionOffsets]) -> String {
        let open = partitions.reduce(Int64(0)) { $0.saturatingAdding($1.open ?? 0) }
        let done = partitions.reduce(Int64(0)) { $0.saturatingAdding($1.doneBeyond) }
        let count = partitions.count.counted("partition")
        return "\(count), \(open.grouped) open, \(done.grouped) done beyond the committed offsets"
    }

    private var table: [String] {
        let hasTopics = topics.count > 1
        var table = TextTable([
            "topic", .right("partition"), .right("committed"), .right("end"), .right("lag"), .right("done beyond"),
            .right("open"), "member", .left("contents of the commit", maxWidth: 120),
        ])
        for partition in partitions {
            table.add([
                hasTopics ? partition.id.topic : "", "\(partition.id.partition)",
                partition.commit.map { "\($0.offset)" } ?? "-",
                "\(partition.bounds.upperBound)", partition.lag?.grouped ?? "-", partition.doneBeyond.grouped,
                partition.open?.grouped ?? "-", presence.member(of: partition.id) ?? "",
                partition.words.joined(separator: "; "),
            ])
        }
        return table.lines
    }

    // MARK: - JSON output

    var json: [String] {
        partitions.map { partition in
            JSONWriter.objectText(capacity: 512) { json in
                json.member("group", group)
                json.member("topic", partition.id.topic)
                json.member("partition", Int(partition.id.partition))
                json.member("committed", partition.commit.map { Int($0.offset) })
                json.member("begin", Int(partition.bounds.lowerBound))
                json.member("end", Int(partition.bounds.upperBound))
                json.member("lag", partition.lag.map { Int($0) })
                json.member("doneBeyond", Int(partition.doneBeyond))
                json.member("open", partition.open.map { Int($0) })
                json.member("metadataKind", partition.metadataKind)
                json.member("metadata", partition.commit.flatMap { $0.metadata.isEmpty ? nil : $0.metadata })
                json.member("notes", partition.words)
                json.member("groupState", presence.description?.state)
                json.member("groupMembers", presence.memberCount)
                json.member("member", presence.member(of: partition.id))
            }
        }
    }
}
