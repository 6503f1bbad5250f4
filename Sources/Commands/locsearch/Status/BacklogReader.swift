import Console
import EventContract
import Kafka
import Logging
import WorkerRuntime

/// Reads the backlog of the workers' group repeatedly, without joining the group. Only one caller may use it at a time.
struct BacklogReader {
    /// How long the list of partitions is cached: reading it makes the broker list all topics.
    private static let lifetimeOfPartitions = Duration.seconds(30)

    private let offsets: GroupOffsets
    private let timeout: Duration
    private var oldest: OldestRequests
    private var history: BacklogHistory
    private var partitions: (ids: [TopicPartition], readAt: Instant)?

    /// - Parameters:
    ///   - topic: `nil`: all request topics.
    ///   - timeout: how long the brokers may take for each answer.
    ///   - window: the period over which rates are computed.
    init(
        _ settings: Settings, group: String? = nil, topic: String? = nil, timeout: Duration, window: Duration,
        log: Logger
    ) throws {
        offsets = try GroupOffsets(settings, group: group, topic: topic, timeout: timeout, log: log)
        let consumer = try settings.consumer()
        oldest = try OldestRequests(consumer.reconnectingSoon, log: log)
        history = BacklogHistory(over: window)
        self.timeout = timeout
    }

    /// Reads the backlog from the brokers.
    /// - Throws: `Failure` that names the brokers and states why they cannot be read.
    mutating func read() async throws -> GroupBacklog {
        let known = partitions.flatMap { $0.readAt.duration(to: .now) < Self.lifetimeOfPartitions ? $0.ids : nil }
        let report = try await offsets.report(of: known)
        let instant = Instant.now
        if known == nil { partitions = (report.partitions.map(\.id), instant) }

        // A failure to read ages is ignored, because a user may be allowed to describe topics but not to read them.
        let waiting = report.waiting
        let times = (try? await oldest.times(of: waiting, within: timeout)) ?? [:]
        var backlog = GroupBacklog(report, waiting: waiting, times: times)
        history.complete(&backlog, readAt: instant)
        return backlog
    }
}

extension GroupBacklog {
    init(_ report: OffsetsReport, waiting: [TopicPartition: WaitingRequests], times: [TopicPartition: WallTime]) {
        let hasTopics = report.topics.count > 1
        self.init(
            group: report.group, topic: report.topics[0].name, time: .now(),
            partitions: report.partitions.map { partition in
                Partition(
                    topic: hasTopics ? partition.id.topic : nil, number: partition.id.partition,
                    committed: partition.commit?.offset,
                    end: partition.bounds.upperBound, lag: partition.lag, doneBeyond: partition.doneBeyond,
                    waiting: waiting[partition.id]?.count, oldest: times[partition.id],
                    member: report.presence.member(of: partition.id))
            })
        if hasTopics { topics = report.topics.map { Topic($0.name, classes: $0.classText) } }

        switch report.presence {
        case .untold(let reason): membersUnknown = reason
        case .described(let group): (state, members) = (group.state, group.members.map { GroupPresence.text(of: $0) })
        }
    }
}
