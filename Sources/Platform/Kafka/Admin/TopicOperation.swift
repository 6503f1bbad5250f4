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
