package import EventContract

/// The backlog of the workers' group in the topics of requests, from the brokers. It is available even if no worker runs.
///
/// A request counts as waiting until it is finished: it has an outcome, and the group has committed it. So the backlog
/// includes requests in progress and those finished since the last commit.
package struct GroupBacklog: Sendable, Hashable {
    /// A topic of requests.
    package struct Topic: Sendable, Hashable {
        package var name: String
        /// The classes that its requests may have, in the form of `topics.requests`: `interactive+batch`.
        package var classes: String

        package init(_ name: String, classes: String) {
            self.name = name
            self.classes = classes
        }
    }

    /// The group's progress in one partition. Unknown values are `nil`, as for a group that has committed nothing.
    package struct Partition: Sendable, Hashable {
        /// `nil` if the group reads only one topic.
        package var topic: String?
        package var number: Int32
        package var committed: Int64?
        /// One past the partition's newest record.
        package var end: Int64
        /// The end minus the committed offset, as in Kafka's own tools.
        package var lag: Int64?
        /// The number of finished offsets beyond the committed one, from the commit's metadata.
        package var doneBeyond: Int64
        /// The number of unfinished offsets: the lag minus `doneBeyond`.
        package var waiting: Int64?
        /// The time at which the oldest waiting request was written; `nil` also if its record cannot be read.
        package var oldest: WallTime?
        /// The member that reads the partition.
        package var member: String?

        package init(
            topic: String? = nil, number: Int32, committed: Int64? = nil, end: Int64, lag: Int64? = nil,
            doneBeyond: Int64 = 0,
            waiting: Int64? = nil, oldest: WallTime? = nil, member: String? = nil
        ) {
            (self.topic, self.number, self.committed, self.end, self.lag) = (topic, number, committed, end, lag)
            (self.doneBeyond, self.waiting, self.oldest, self.member) = (doneBeyond, waiting, oldest, member)
        }
    }

    /// Requests per second, from two readings.
    package struct Rates: Sendable, Hashable {
        /// The time between the two readings.
        package var window: Duration
        package var arrived: Double
        package var finished: Double

        package init(window: Duration, arrived: Double, finished: Double) {
            (self.window, self.arrived, self.finished) = (window, arrived, finished)
        }
    }

    /// The time that the group needs for the present backlog.
    package enum WorkOff: Sendable, Hashable {
        case unknown
        case time(Duration)
        /// Requests wait, and none is finished.
        case never
    }

    package var group: String
    /// The first of the topics.
    package var topic: String
    /// All topics, if there are several; otherwise empty.
    package var topics: [Topic] = []
    /// The time of the reading.
    package var time: WallTime
    /// Kafka's name of the group's state; `nil` if the brokers do not return it.
    package var state: String?
    /// The names of the group's members; `nil` if the brokers do not return them.
    package var members: [String]?
    /// Why the members are not known.
    package var membersUnknown: String?
    /// In the order of the topics, and in ascending order within each topic.
    package var partitions: [Partition]
    /// `nil` until there are two readings.
    package var rates: Rates?
    /// True if the group has finished something since the previous reading.
    package var isProgressing = false

    package init(group: String, topic: String, time: WallTime, partitions: [Partition]) {
        (self.group, self.topic, self.time, self.partitions) = (group, topic, time, partitions)
    }

    // MARK: - Totals

    /// `nil` if it is unknown for all partitions.
    package var waiting: Int64? { sum(\.waiting) }
    package var lag: Int64? { sum(\.lag) }
    package var doneBeyond: Int64 { sum(\.doneBeyond) ?? 0 }
    /// The sum of the partitions' ends, which grows by one with each record.
    package var end: Int64 { sum(\.end) ?? 0 }

    /// The age of the oldest waiting request; `nil` if none waits or its time is unknown.
    package var oldestAge: Duration? { age(of: partitions.compactMap(\.oldest).min()) }

    /// Returns the age of a partition's oldest waiting request. A time ahead of this machine's clock counts as zero.
    package func age(of partition: Partition) -> Duration? { age(of: partition.oldest) }

    private func age(of oldest: WallTime?) -> Duration? { oldest.map { max(.zero, time.duration(since: $0)) } }

    /// The time needed for the backlog, at the rate at which requests were finished in the window.
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

    /// The backlog of each topic, without rates; empty if there is only one.
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
