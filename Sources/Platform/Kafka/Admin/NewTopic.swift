/// A topic to be created.
public struct NewTopic: Sendable, Hashable {
    public var name: String
    /// The number of its partitions. At least 1.
    public var partitions: Int
    /// The number of brokers that hold each partition. At least 1, and at most the number of brokers.
    public var replicationFactor: Int
    /// Kafka's own settings of the topic, such as `retention.ms`. The others have the brokers' defaults.
    public var configuration: [String: String]

    public init(name: String, partitions: Int, replicationFactor: Int, configuration: [String: String] = [:]) {
        self.name = name
        (self.partitions, self.replicationFactor, self.configuration) = (partitions, replicationFactor, configuration)
    }
}

/// An operation on a topic, as ACLs name it. Raw values are librdkafka's (`rd_kafka_AclOperation_t`).
package enum TopicOperation: UInt32, Sendable, CaseIterable {
    case read = 3
    case write = 4
    case describe = 8
    case describeConfigs = 10

    /// Kafka's own name.
    package var name: String {
        switch self {
        case .read: "Read"
        case .write: "Write"
        case .describe: "Describe"
        case .describeConfigs: "DescribeConfigs"
        }
    }
}
