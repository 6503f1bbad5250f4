/// The brokers of a cluster and its topics, as one of the brokers knows them.
public struct ClusterDescription: Sendable, Hashable {
    /// The shape of one topic.
    public struct Topic: Sendable, Hashable {
        /// The number of partitions.
        public var partitions: Int
        /// The number of brokers that hold a partition; of partitions that differ, the fewest.
        public var replicationFactor: Int

        public init(partitions: Int, replicationFactor: Int) {
            self.partitions = partitions
            self.replicationFactor = replicationFactor
        }
    }

    /// The ids of the brokers.
    public var brokers: Set<Int32>
    /// Every topic that this user may see, by name.
    public var topics: [String: Topic]

    public init(brokers: Set<Int32>, topics: [String: Topic]) {
        self.brokers = brokers
        self.topics = topics
    }
}
