/// The brokers and topics of a cluster, as one broker describes them.
public struct ClusterDescription: Sendable, Hashable {
    public struct Topic: Sendable, Hashable {
        public var partitions: Int
        /// The number of brokers that hold each partition; the smallest number if partitions differ.
        public var replicationFactor: Int
        /// The partitions without a leader, which cannot be written to.
        package var leaderless: [Int32] = []

        public init(partitions: Int, replicationFactor: Int) {
            self.partitions = partitions
            self.replicationFactor = replicationFactor
        }
    }

    public var brokers: Set<Int32>
    /// The advertised address of each broker, as `host:port`, by its id. Clients connect to these addresses.
    package var addresses: [Int32: String] = [:]
    /// Every topic that this user may see, by name.
    public var topics: [String: Topic]

    public init(brokers: Set<Int32>, topics: [String: Topic]) {
        self.brokers = brokers
        self.topics = topics
    }
}

/// The state of a topic, as the brokers report it.
public enum TopicDiagnosis: Sendable, Hashable {
    /// No broker answered in time, so the state is unknown.
    case noBrokerAnswers
    /// A broker reported that the topic does not exist, or that this user may not see it.
    case refused(KafkaError)
    /// These partitions have no leader and cannot be written to.
    case withoutLeader([Int32])
    /// The topic exists, and each of its partitions has a leader.
    case complete
}
