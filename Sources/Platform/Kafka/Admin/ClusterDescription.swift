/// The brokers of a cluster and its topics, as one of the brokers knows them.
public struct ClusterDescription: Sendable, Hashable {
    /// The shape of one topic.
    public struct Topic: Sendable, Hashable {
        /// The number of partitions.
        public var partitions: Int
        /// The number of brokers that hold a partition; of partitions that differ, the fewest.
        public var replicationFactor: Int
        /// The partitions without a leader, to which nothing can be written.
        package var leaderless: [Int32] = []

        public init(partitions: Int, replicationFactor: Int) {
            self.partitions = partitions
            self.replicationFactor = replicationFactor
        }
    }

    /// The ids of the brokers.
    public var brokers: Set<Int32>
    /// The address that each broker gives itself, as `host:port`, by its id: clients connect to these.
    package var addresses: [Int32: String] = [:]
    /// Every topic that this user may see, by name.
    public var topics: [String: Topic]

    public init(brokers: Set<Int32>, topics: [String: Topic]) {
        self.brokers = brokers
        self.topics = topics
    }
}
