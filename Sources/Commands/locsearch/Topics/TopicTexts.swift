import Kafka

/// Formats the recommendation as a table and as shell commands.
enum TopicTexts {
    /// The titles and names of the settings that have a column in the tables.
    static let columns = [
        ("retention", "retention.ms"), ("segments", "segment.ms"), ("max.message.bytes", "max.message.bytes"),
        ("cleanup.policy", "cleanup.policy"), ("min.insync.replicas", "min.insync.replicas"),
    ]

    /// Returns a table for a terminal. It shows the actual values of existing topics, and the recommended values of
    /// missing ones.
    /// - Parameter states: the state of each topic in words, by name.
    static func table(_ findings: [TopicCreation.Finding], states: [String: String]) -> [String] {
        var table = TextTable(
            [TextTable.Column(title: "topic"), TextTable.Column(title: "state")]
                + ["partitions", "replicas"].map { TextTable.Column(title: $0, alignment: .right) }
                + columns.map { TextTable.Column(title: $0.0, alignment: .right) })
        for finding in findings {
            let topic = finding.topic
            let (partitions, replicas) =
                finding.found.map { ($0.partitions, $0.replicationFactor) } ?? (
                    topic.partitions, topic.replicationFactor
                )
            table.add(
                [topic.name, states[topic.name] ?? "", "\(partitions)", "\(replicas)"]
                    + columns.map { cell(finding, $0.1) })
        }
        return table.lines
    }

    static func cell(_ finding: TopicCreation.Finding, _ name: String) -> String {
        // Settings without a recommendation were not checked.
        guard let recommended = finding.topic.value(of: name) else { return "" }
        guard finding.found != nil else { return cell(recommended, name) }
        return finding.configuration[name].map { cell($0, name) } ?? "not checked"
    }

    private static func cell(_ value: String, _ name: String) -> String {
        guard name.hasSuffix(".ms"), let milliseconds = Int64(value) else { return value }
        return milliseconds < 0 ? "forever" : Duration.milliseconds(milliseconds).text
    }

    /// Returns commands for Kafka's own tools that create the topics.
    static func shell(_ topics: [RecommendedTopic], bootstrapServers: String) -> [String] {
        topics.map { topic in
            let configurations = topic.configurations.filter(\.isSetAtCreation).map {
                "--config \($0.name)=\($0.value)"
            }
            let head =
                "kafka-topics.sh --bootstrap-server \(bootstrapServers) --create --if-not-exists"
                + " --topic \(topic.name)"
            let shape = "--partitions \(topic.partitions) --replication-factor \(topic.replicationFactor)"
            return "\(head) \\\n    \(shape) \\\n    \(configurations.joined(separator: " "))"
        }
    }
}
