/// A consumer group as its coordinator describes it.
package struct GroupDescription: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        /// The client id that the member chose.
        package var clientID: String
        /// The address that the client connects from, as the broker writes it.
        package var host: String
        /// The partitions assigned to the member.
        package var partitions: Set<TopicPartition>

        package init(clientID: String, host: String, partitions: Set<TopicPartition> = []) {
            (self.clientID, self.host, self.partitions) = (clientID, host, partitions)
        }
    }

    /// Kafka's name for the group's state, such as `Stable` or `Empty`.
    package var state: String
    package var members: [Member]

    package init(state: String, members: [Member] = []) {
        self.state = state
        self.members = members
    }

    /// The description of a group that the brokers do not know.
    package static let unknown = GroupDescription(state: "Dead")

    /// True for an existing group without members.
    package var isEmpty: Bool { members.isEmpty && state == "Empty" }

    /// True for a group that the brokers do not know. Kafka 4 also describes every group of the `consumer` protocol in
    /// this way, with or without members.
    package var isUnknown: Bool { members.isEmpty && state == "Dead" }
}
