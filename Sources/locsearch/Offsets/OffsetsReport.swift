import JSON
import Kafka

/// Shows a person or a program how far a group has come in each partition of a topic.
struct OffsetsReport {
    let group: String
    let topic: String
    let presence: GroupPresence
    /// In ascending order of the partitions.
    let partitions: [PartitionOffsets]

    // MARK: - For people

    var text: [String] { heading + [""] + table }

    private var heading: [String] {
        let open = partitions.reduce(Int64(0)) { $0.saturatingAdding($1.open ?? 0) }
        let done = partitions.reduce(Int64(0)) { $0.saturatingAdding($1.doneBeyond) }
        let count = partitions.count.counted("partition")
        return [
            TerminalText.safe("group \(group): \(presence.words)"),
            TerminalText.safe(
                "topic \(topic): \(count), \(open.grouped) open, \(done.grouped) done beyond the committed offsets"),
        ]
    }

    private var table: [String] {
        var table = TextTable([
            TextTable.Column(title: "partition", alignment: .right),
            TextTable.Column(title: "committed", alignment: .right), TextTable.Column(title: "end", alignment: .right),
            TextTable.Column(title: "lag", alignment: .right),
            TextTable.Column(title: "done beyond", alignment: .right),
            TextTable.Column(title: "open", alignment: .right), TextTable.Column(title: "member"),
            TextTable.Column(title: "the commit says", maxWidth: 120),
        ])
        for partition in partitions {
            table.add([
                "\(partition.id.partition)", partition.commit.map { "\($0.offset)" } ?? "-",
                "\(partition.bounds.upperBound)", partition.lag?.grouped ?? "-", partition.doneBeyond.grouped,
                partition.open?.grouped ?? "-", presence.member(of: partition.id) ?? "",
                partition.words.joined(separator: "; "),
            ])
        }
        return table.lines
    }

    // MARK: - For programs

    /// One JSON object a partition.
    var json: [String] {
        partitions.map { partition in
            var json = JSONWriter(capacity: 512)
            json.beginObject()
            json.member("group", group)
            json.member("topic", topic)
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
            json.endObject()
            return String(decoding: json.finish(), as: UTF8.self)
        }
    }
}
