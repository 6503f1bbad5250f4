/// The settings of a topic.
package struct TopicSettings: Hashable, Sendable {
    package var partitions: Int32 = 1
    /// `max.message.bytes`; `nil`: the brokers' own limit.
    package var maxMessageBytes: Int?
    /// `min.insync.replicas`.
    package var minInSyncReplicas = 1
    /// The number of replicas. All are in sync until the simulation changes that.
    package var replicas = 1
    /// `retention.ms` in nanoseconds; `nil`: unlimited.
    package var retention: Int64?
    /// `cleanup.policy=compact`: records need a key.
    package var isCompacted = false

    package init(partitions: Int32 = 1) { self.partitions = partitions }
}

/// CreateTopics, CreatePartitions and DeleteTopics, each for one topic.
package struct CreateTopicRequest: Hashable, Sendable {
    package var name: String
    package var settings: TopicSettings

    package init(_ name: String, _ settings: TopicSettings = TopicSettings()) {
        self.name = name
        self.settings = settings
    }
}

package struct CreatePartitionsRequest: Hashable, Sendable {
    package var topic: String
    /// The number of partitions afterwards.
    package var count: Int32

    package init(_ topic: String, count: Int32) {
        self.topic = topic
        self.count = count
    }
}

package struct DeleteTopicRequest: Hashable, Sendable {
    package var name: String

    package init(_ name: String) { self.name = name }
}

/// The answer to a request that returns only an error code.
package struct PlainResponse: Hashable, Sendable {
    package var error: ErrorCode
}

/// Metadata.
package struct MetadataRequest: Hashable, Sendable {
    /// `nil`: all topics.
    package var topics: [String]?

    package init(_ topics: [String]? = nil) { self.topics = topics }
}

package struct MetadataResponse: Hashable, Sendable {
    package struct Partition: Hashable, Sendable {
        package var error: ErrorCode
        package var partition: Int32
        /// -1 while no broker leads it.
        package var leader: Int32
        package var leaderEpoch: Int32
    }
    package struct Topic: Hashable, Sendable {
        package var name: String
        package var error: ErrorCode
        /// 0 if the topic does not exist.
        package var id: UInt64 = 0
        package var partitions: [Partition] = []
    }
    /// The brokers that are up.
    package var brokers: [Int32]
    package var topics: [Topic]
}

/// FindCoordinator.
package struct FindCoordinatorRequest: Hashable, Sendable {
    package enum Key: Hashable, Sendable {
        case group(String)
        case transaction(String)

        private var shortHash: Int {
            switch self {
            case .group(let name): name.shortHash
            case .transaction(let name): ~name.shortHash
            }
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(shortHash) }
        package func _rawHashValue(seed: Int) -> Int { shortHash ^ seed }
    }
    package var key: Key

    package init(_ key: Key) { self.key = key }
}

package struct FindCoordinatorResponse: Hashable, Sendable {
    package var error: ErrorCode
    /// -1 with an error.
    package var broker: Int32 = -1
}
