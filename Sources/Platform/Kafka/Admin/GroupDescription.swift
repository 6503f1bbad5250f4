/// A consumer group as its coordinator describes it.
package struct GroupDescription: Sendable, Hashable {
    /// One process that belongs to the group now.
    package struct Member: Sendable, Hashable {
        /// The name that the client gives itself.
        package var clientID: String
        /// The address that the client connects from, as the broker writes it.
        package var host: String
        /// The partitions that it reads.
        package var partitions: Set<TopicPartition>

        package init(clientID: String, host: String, partitions: Set<TopicPartition> = []) {
            self.clientID = clientID
            self.host = host
            self.partitions = partitions
        }
    }

    /// Kafka's name of the group's state, such as `Stable` or `Empty`.
    package var state: String
    package var members: [Member]

    package init(state: String, members: [Member] = []) {
        self.state = state
        self.members = members
    }

    /// The description of a group that the brokers do not know.
    package static let unknown = GroupDescription(state: "Dead")

    /// True for a group that the brokers know, and that has no member.
    package var isEmpty: Bool { members.isEmpty && state == "Empty" }

    /// True for a group that the brokers do not know. Kafka 4 says this of each group of the protocol `consumer` too, whether
    /// that has members or not.
    package var isUnknown: Bool { members.isEmpty && state == "Dead" }
}
