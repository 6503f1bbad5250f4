internal import Basics
package import EventContract

/// How far the workers' group has come in the topics of requests, as the brokers tell it: true also where no worker runs.
///
/// A request waits until it is finished: it has an outcome, and the group has committed that. So what waits includes what
/// workers have in hand, and what they have finished since their last commit.
package struct GroupBacklog: Sendable, Hashable {
    /// A topic that requests are read from.
    package struct Topic: Sendable, Hashable {
        package var name: String
        /// The classes that its requests may have, as `topics.requests` has them: `interactive+batch`.
        package var classes: String

        package init(_ name: String, classes: String) {
            self.name = name
            self.classes = classes
        }
    }

    /// How far the group has come in one partition. `nil` where that is not known, as for a group that has committed nothing.
    package struct Partition: Sendable, Hashable {
        /// `nil` where the group reads one topic only.
        package var topic: String?
        package var number: Int32
        package var committed: Int64?
        /// One past the partition's newest record.
        package var end: Int64
        /// The end less the committed offset, as Kafka's own tools count it.
        package var lag: Int64?
        /// How many offsets beyond the committed one are done, as the commit's metadata tells.
        package var doneBeyond: Int64
        /// How many offsets are not done: the lag less those that are done beyond it.
        package var waiting: Int64?
        /// When the oldest request that waits was written; `nil` also where its record cannot be read.
        package var oldest: EventTime?
        /// The member that reads the partition.
        package var member: String?

        package init(
            topic: String? = nil, number: Int32, committed: Int64? = nil, end: Int64, lag: Int64? = nil,
            doneBeyond: Int64 = 0,
            waiting: Int64? = nil, oldest: EventTime? = nil, member: String? = nil
        ) {
            self.topic = topic
            self.number = number
            self.committed = committed
            self.end = end
            self.lag = lag
            self.doneBeyond = doneBeyond
            self.waiting = waiting
            self.oldest = oldest
            self.member = member
        }
    }

    /// Requests a second, from two readings.
    package struct Rates: Sendable, Hashable {
        /// The time between the two readings.
        package var window: Duration
        package var arrived: Double
        package var finished: Double

        package init(window: Duration, arrived: Double, finished: Double) {
            self.window = window
            self.arrived = arrived
            self.finished = finished
        }
    }

    /// How long the group takes for what waits now.
    package enum WorkOff: Sendable, Hashable {
        case unknown
        case time(Duration)
        /// Requests wait, and none gets finished.
        case never
    }

    package var group: String
    /// The first of the topics.
    package var topic: String
    /// All topics, where there are several; else empty.
    package var topics: [Topic] = []
    /// When the brokers were asked.
    package var time: EventTime
    /// Kafka's name of the group's state; `nil` where the brokers do not tell.
    package var state: String?
    /// The group's members, a name each; `nil` where the brokers do not tell.
    package var members: [String]?
    /// Why the members are not known.
    package var membersUnknown: String?
    /// In the order of the topics, and of each in ascending order.
    package var partitions: [Partition]
    /// `nil` until there are two readings.
    package var rates: Rates?
    /// True when the group has finished something since the reading before this one.
    package var isProgressing = false

    package init(group: String, topic: String, time: EventTime, partitions: [Partition]) {
        self.group = group
        self.topic = topic
        self.time = time
        self.partitions = partitions
    }

    // MARK: - In all

    /// `nil` where it is not known of any partition.
    package var waiting: Int64? { sum(\.waiting) }
    package var lag: Int64? { sum(\.lag) }
    package var doneBeyond: Int64 { sum(\.doneBeyond) ?? 0 }
    /// The sum of the partitions' ends, which grows by one with each record.
    package var end: Int64 { sum(\.end) ?? 0 }

    /// How long the oldest request has waited; `nil` where none waits or its time is not known.
    package var oldestAge: Duration? { age(of: partitions.compactMap(\.oldest).min()) }

    /// How long the oldest request of a partition has waited. A time that is ahead of this machine's clock counts as no wait.
    package func age(of partition: Partition) -> Duration? { age(of: partition.oldest) }

    private func age(of oldest: EventTime?) -> Duration? { oldest.map { max(.zero, time.duration(since: $0)) } }

    /// What waits, at the rate at which requests were finished in the window.
    package var workOff: WorkOff {
        guard let waiting, let rates else { return .unknown }
        if waiting == 0 { return .time(.zero) }
        return rates.finished > 0 ? .time(.seconds(saturating: Double(waiting) / rates.finished)) : .never
    }

    // MARK: - By topic

    /// The names of all topics, for a sentence.
    package var topicNames: String {
        topics.isEmpty ? topic : topics.map { "\($0.name) (\($0.classes))" }.joined(separator: ", ")
    }

    /// The backlog of each topic by itself, without rates; empty where there is one only.
    package var byTopic: [(topic: Topic, backlog: GroupBacklog)] {
        topics.map { topic in
            let own = partitions.filter { $0.topic == topic.name }
            return (topic, GroupBacklog(group: group, topic: topic.name, time: time, partitions: own))
        }
    }

    private func sum(_ value: (Partition) -> Int64?) -> Int64? {
        let values = partitions.compactMap(value)
        return values.isEmpty ? nil : values.reduce(0) { $0.saturatingAdding($1) }
    }
}
