public import Kafka

/// What one lane has under way at a moment.
public struct LaneStatus: Sendable, Hashable {
    public struct Partition: Sendable, Hashable {
        public let id: TopicPartition
        /// Requests taken and not yet delivered.
        public let inFlight: Int
        public let committed: Int64?
        /// One past the last record, as the last fetch saw it.
        public let end: Int64?

        /// Records not yet committed; `nil` until both offsets are known.
        public var lag: Int64? {
            guard let committed, let end else { return nil }
            return max(0, end - committed)
        }
    }

    public let positions: [Partition]
    public let inFlight: Int
    public let undelivered: Int
    public let brokersAreDown: Bool
    public let isDraining: Bool
    /// For how long nothing new begins, because what is finished cannot be committed; `nil`: it can.
    public let commitOverdue: Duration?
}
