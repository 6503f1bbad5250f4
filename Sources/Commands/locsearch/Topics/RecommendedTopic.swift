import Kafka

/// The recommended properties of a topic. `RecommendedTopic.all` is their only source. The command, its help, the
/// `kafka-topics.sh` lines and the table in docs/operations.md are derived from it.
struct RecommendedTopic: Sendable, Hashable {
    /// The kind of records in a topic. The raw value is the name of its setting below `topics.`.
    enum Role: String, Sendable, CaseIterable {
        case requests, results, errors, deadLetters, fleet
    }

    /// A topic-level setting of Kafka.
    struct Configuration: Sendable, Hashable {
        /// How an existing topic's value is compared with the recommended one.
        enum Comparison: Sendable {
            case equal, atLeast, atMost
        }

        /// Kafka's name of the setting.
        let name: String
        let value: String
        let comparison: Comparison
        /// The effect of a different value, worded for the end of a line.
        let consequence: String
        /// False if the value is the default of every broker. Some hosted brokers refuse requests that set it.
        var isSetAtCreation = true
    }

    let role: Role
    let name: String
    let partitions: Int
    let replicationFactor: Int
    let configurations: [Configuration]

    /// The definition with which to create the topic.
    var new: NewTopic {
        let set = configurations.filter(\.isSetAtCreation)
        return NewTopic(
            name: name, partitions: partitions, replicationFactor: replicationFactor,
            configuration: Dictionary(set.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
    }

    func value(of configuration: String) -> String? {
        configurations.first { $0.name == configuration }?.value
    }
}
