package import Kafka

/// The state of one lane's work at one moment.
package struct LaneStatus: Sendable, Hashable {
    /// The state of one assigned partition.
    package struct Partition: Sendable, Hashable {
        package let id: TopicPartition
        /// The number of open requests: in flight, or with an outcome that is unconfirmed. Called `inFlight` in `/status`.
        package let open: Int
        /// The group's committed offset; `nil` until the brokers have returned it.
        package let committed: Int64?
        /// The offset after the last record, from the last fetch or from a query that is made every minute.
        package let end: Int64?

        /// The offset of the next record to take; `nil` until it is known.
        package let next: Int64?
        /// The reason why the partition is not read, or not committed, until an operator acts; `nil` if there is none.
        package var problem: String?

        /// The number of records in the topic that were not taken; `nil` until it is known.
        package var waiting: Int64? {
            guard let next = next ?? committed, let end else { return nil }
            return max(0, end - next)
        }

        /// The number of uncommitted records; `nil` until both offsets are known.
        package var lag: Int64? {
            guard let committed, let end else { return nil }
            return max(0, end - committed)
        }
    }

    /// The requests of one flow that were read and wait to begin.
    package struct WaitingFlow: Sendable, Hashable {
        package let flow: Flow
        package let count: Int
        /// The time since the oldest of them was read.
        package let longest: Duration

        package init(flow: Flow, count: Int, longest: Duration) {
            (self.flow, self.count, self.longest) = (flow, count, longest)
        }
    }

    package let positions: [Partition]
    /// The waiting requests by class, tenant and providers; empty if requests do not wait by flow.
    package let waiting: [WaitingFlow]
    /// The number of these that may not begin now on any worker: see `OwnedPartition.holdsBack`.
    package let heldBack: Int
    /// The number of requests whose outcome is not yet made.
    package let inFlight: Int
    /// The number of requests whose outcome is made and not yet acknowledged by the brokers.
    package let unconfirmed: Int
    package let brokersAreDown: Bool
    /// The reason why the group refuses the lane; `nil` if it has not refused it.
    package let groupRefusal: String?
    package let isDraining: Bool
    package let delivery: DeliveryStatus
    /// The number of unconfirmed records in the producer.
    package let queuedRecords: Int
    /// The clients' statistics; `nil` without statistics.
    package let consumer: ClientStatistics?
    package let producer: ClientStatistics?
    /// The total time in which the loop has run since it started.
    package let busy: Duration
    /// The longest time since the loop started between two checks of its sockets.
    package let longestPass: Duration
}

/// The conditions on which a lane takes records, at one moment.
package struct IntakeStatus: Sendable, Hashable {
    /// False while no request may begin, whatever its partition: the lane ends, an operator has paused intake, commits
    /// are overdue, a topic refuses outcomes, or the lane's quota share is unknown.
    package let isOpen: Bool
    /// True if a further request may be taken.
    package let hasRoom: Bool
    /// The number of partitions whose records are kept for careful intake.
    package let partitionsInCare: Int
    /// True while a lane of the process runs a record in isolation, or is about to.
    package let runsAlone: Bool
}

/// The phases in the life of a lane.
enum LaneState {
    case running
    /// No request is taken; those in flight may finish until this time.
    case draining(until: Instant)
    /// No request is taken and no outcome is published. One last commit covers the outcomes acknowledged before.
    case failed(any Error)

    var isRunning: Bool { if case .running = self { true } else { false } }
    var isDraining: Bool { drainEnd != nil }

    /// The time until which a draining lane lets requests finish; `nil` for a lane that does not drain.
    var drainEnd: Instant? { if case .draining(let end) = self { end } else { nil } }

    /// The failure that ended the lane; `nil` if there is none.
    var failure: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}
