package import Kafka

/// What one lane has under way at a moment.
package struct LaneStatus: Sendable, Hashable {
    package struct Partition: Sendable, Hashable {
        package let id: TopicPartition
        /// Requests taken and not yet delivered.
        package let inFlight: Int
        package let committed: Int64?
        /// One past the last record, as the last fetch saw it.
        package let end: Int64?

        /// Records not yet committed; `nil` until both offsets are known.
        package var lag: Int64? {
            guard let committed, let end else { return nil }
            return max(0, end - committed)
        }
    }

    package let positions: [Partition]
    package let inFlight: Int
    package let undelivered: Int
    package let brokersAreDown: Bool
    package let isDraining: Bool
}
