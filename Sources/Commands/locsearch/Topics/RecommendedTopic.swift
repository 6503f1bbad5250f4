import Kafka

/// A topic as a worker wants it. `RecommendedTopic.all` is the only place where the recommendation stands: the command,
/// its help, `kafka-topics.sh` lines and the table in docs/operations.md come from it.
struct RecommendedTopic: Sendable, Hashable {
    /// The kind of records that a topic carries. The raw value is the name of its setting below `topics.`.
    enum Role: String, Sendable, CaseIterable {
        case requests, results, errors, deadLetters, fleet
    }

    /// One of Kafka's settings of a topic.
    struct Configuration: Sendable, Hashable {
        /// How an existing topic's value is compared with ours.
        enum Comparison: Sendable {
            case equal, atLeast, atMost
        }

        /// Kafka's name of the setting.
        let name: String
        let value: String
        let comparison: Comparison
        /// The effect of another value; the end of a line for a person.
        let consequence: String
        /// False where the value is the default of every broker: some hosted brokers refuse requests that set it.
        var isSetAtCreation = true
    }

    let role: Role
    let name: String
    let partitions: Int
    let replicationFactor: Int
    let configurations: [Configuration]

    /// The topic that the brokers are asked to make.
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
