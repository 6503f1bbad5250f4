public import Basics
public import Kafka

/// The work that one lane has under way at a moment.
public struct LaneStatus: Sendable, Hashable {
    /// How one assigned partition stands.
    public struct Partition: Sendable, Hashable {
        public let id: TopicPartition
        /// The number of open requests: in flight, or with an outcome that is unconfirmed. Called `inFlight` in `/status`.
        public let open: Int
        /// The offset that the group continues from; `nil` until the brokers have said.
        public let committed: Int64?
        /// One past the last record, as the last fetch saw it, or the last question that is asked every minute.
        public let end: Int64?

        /// The offset of the next record to take; `nil` before the first was taken.
        public let next: Int64?
        /// Why nothing is read, or nothing committed, of it until a person acts; `nil` where nothing stands in the way.
        public var problem: String?

        /// The number of records that wait in the topic and were not taken; `nil` until that is known.
        public var waiting: Int64? {
            guard let next = next ?? committed, let end else { return nil }
            return max(0, end - next)
        }

        /// The number of records not yet committed; `nil` until both offsets are known.
        public var lag: Int64? {
            guard let committed, let end else { return nil }
            return max(0, end - committed)
        }
    }

    /// The requests of one flow that were read and wait for their turn to begin.
    public struct WaitingFlow: Sendable, Hashable {
        public let flow: Flow
        public let count: Int
        /// How long the oldest of them has waited since it was read.
        public let longest: Duration

        /// The waiting requests of a flow.
        public init(flow: Flow, count: Int, longest: Duration) {
            self.flow = flow
            self.count = count
            self.longest = longest
        }
    }

    public let positions: [Partition]
    /// What was read and waits to begin, by class, tenant and providers; empty where requests are not told apart.
    public let waiting: [WaitingFlow]
    /// The number of requests whose outcome is not yet made.
    public let inFlight: Int
    /// The number of requests whose outcome is made and not yet confirmed by the brokers.
    public let unconfirmed: Int
    public let brokersAreDown: Bool
    /// Why the group does not take the lane in; `nil` where it has not refused to.
    public let groupRefusal: String?
    public let isDraining: Bool
    /// How long nothing new begins because what is finished cannot be committed; `nil` while it can.
    public let commitOverdue: Duration?
    /// Why outcomes cannot be written at present, as one line for a person; `nil` while they can. A problem that may be
    /// over in a moment does not count.
    public let deliveryProblem: String?
    /// The topics that take or confirm no records, while brokers answer.
    public let blockedTopics: [String]
    /// The number of records that the producer has and the brokers have not confirmed, with the size of their values.
    public let queuedRecords: Int
    public let queuedBytes: Int
    /// The clients' figures; `nil` without statistics.
    public let consumer: ClientStatistics?
    public let producer: ClientStatistics?
    /// The time since the loop began in which it ran.
    public let busy: Duration
    /// The longest time since the loop began for which it did not look at its sockets.
    public let longestPass: Duration
}
