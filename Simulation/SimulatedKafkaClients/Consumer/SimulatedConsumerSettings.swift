internal import SimulatedKafka

/// The librdkafka properties that determine a consumer's behaviour. All times are nanoseconds.
package struct SimulatedConsumerSettings: Hashable, Sendable {
    package enum Assignor: String, Hashable, Sendable, CaseIterable {
        case range
        case cooperativeSticky = "cooperative-sticky"
    }

    package enum GroupProtocol: Hashable, Sendable, CaseIterable {
        case classic
        /// KIP-848.
        case consumer
    }

    /// `group.id`.
    package var group: String
    /// `group.instance.id`; `nil`: a dynamic member.
    package var instanceID: String?
    /// `group.protocol`.
    package var groupProtocol = GroupProtocol.classic
    /// `partition.assignment.strategy`, for the classic protocol.
    package var assignor = Assignor.cooperativeSticky
    /// `session.timeout.ms`.
    package var sessionTimeout: Int64 = 45 * ClusterRules.second
    /// `heartbeat.interval.ms`.
    package var heartbeatInterval: Int64 = ClusterRules.second
    /// `max.poll.interval.ms`, which is also the rebalance timeout.
    package var maxPollInterval: Int64 = 300 * ClusterRules.second
    /// `queued.min.messages`, for each partition.
    package var prefetch = 1_000
    /// `fetch.wait.max.ms`.
    package var fetchWait: Int64 = 100 * ClusterRules.millisecond
    /// `fetch.message.max.bytes`, for each partition.
    package var fetchBytes = 1_048_576
    /// True for librdkafka before 2.10: a commit that meets a new generation loses the whole assignment.
    package var losesAssignmentByStaleCommits = false

    package init(group: String) { self.group = group }

    var isCooperative: Bool { groupProtocol == .consumer || assignor == .cooperativeSticky }
}
