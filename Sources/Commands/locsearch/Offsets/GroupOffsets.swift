import ArgumentParser
import EventContract
import Kafka
import Logging
import WorkerRuntime

/// Reads and moves the offsets of a group on its topics. Its errors state what to do.
struct GroupOffsets {
    let group: String
    /// The topics in the order of the settings.
    let topics: [RequestTopic]
    private let brokers: String
    private let admin: GroupAdmin
    private let configuration: ConsumerConfiguration
    private let timeout: Duration
    private let log: Logger

    /// - Parameters:
    ///   - topic: `nil`: all request topics.
    ///   - timeout: how long the brokers may take for each answer.
    init(_ settings: Settings, group: String?, topic: String?, timeout: Duration, log: Logger) throws {
        var configuration = try settings.consumer()
        if let group { configuration.groupID = group }
        self.group = configuration.groupID
        let all = settings.topics.requestTopics
        topics = topic.map { name in [all.first { $0.name == name } ?? RequestTopic(name)] } ?? all
        brokers = settings.text("kafka.bootstrapServers")
        (self.configuration, self.timeout, self.log) = (configuration, timeout, log)
        admin = try GroupAdmin(configuration.reconnectingSoon, log: log)
    }

    // MARK: - Reading offsets

    /// Reads the offsets of the group. Commits are read before the ends of the log, so that no lag is negative.
    /// - Parameter known: the topics' partitions if they are known already.
    func report(of known: [TopicPartition]? = nil) async throws -> OffsetsReport {
        let ids: [TopicPartition]
        if let known { ids = known } else { ids = try await partitions() }
        let commits = try await asking("the offsets of the group \(group) cannot be read") {
            try await admin.commits(of: ids, within: timeout)
        }
        let bounds = try await asking("the log of \(names) cannot be read") {
            try await admin.bounds(of: ids, within: timeout)
        }

        let partitions = ids.map { PartitionOffsets($0, bounds: bounds[$0] ?? 0..<0, commit: commits[$0]) }
        let presence = await presence(hasCommits: !commits.isEmpty)
        return OffsetsReport(group: group, topics: topics, presence: presence, partitions: partitions)
    }

    private var names: String { topics.names }

    private func partitions() async throws -> [TopicPartition] {
        var ids: [TopicPartition] = []
        for topic in topics { ids.append(contentsOf: try await partitions(of: topic.name)) }
        return ids
    }

    private func partitions(of topic: String) async throws -> [TopicPartition] {
        let count = try await asking("the topics cannot be listed") {
            try await admin.partitionCount(of: topic, within: timeout)
        }
        guard let count, count > 0 else {
            throw Failure(
                """
                there is no topic \(topic) at \(brokers), or this user may not see it: give --topic, create the topic \
                with `locsearch topics create`, or grant Describe on it
                """)
        }
        return (0..<Int32(clamping: count)).map { TopicPartition(topic, $0) }
    }

    /// Reads whether the group has members. A failure is not thrown but becomes part of the result, because the offsets
    /// can be shown without it.
    func presence(hasCommits: Bool) async -> GroupPresence {
        do throws(KafkaError) {
            return GroupPresence(try await admin.description(within: timeout), hasCommits: hasCommits)
        } catch {
            return .untold(
                error.kind == .unsupported
                    ? "these brokers, such as the embedded broker, cannot describe groups" : "\(error)")
        }
    }

    // MARK: - Moving offsets

    /// Returns the offset to which a target refers in each partition.
    func targets(_ target: OffsetTarget, of partitions: [PartitionOffsets]) async throws -> [TopicPartition: Int64] {
        if let time = target.milliseconds(at: .now()) { return try await offsets(since: time, of: partitions) }

        return partitions.reduce(into: [:]) { targets, partition in
            targets[partition.id] =
                switch target {
                case .offset(let offset): offset
                case .earliest: partition.bounds.lowerBound
                default: partition.bounds.upperBound
                }
        }
    }

    /// A partition without a record of that time or later is moved to its end.
    private func offsets(
        since milliseconds: Int64, of partitions: [PartitionOffsets]
    ) async throws -> [TopicPartition: Int64] {
        let found = try await asking("the offsets of \(names) cannot be looked up by time") {
            try await admin.offsets(of: partitions.map(\.id), since: milliseconds, within: timeout)
        }
        let without = partitions.filter { found[$0.id] == nil }
        try await requireOlder(than: milliseconds, without)

        return without.reduce(into: found) { $0[$1.id] = $1.bounds.upperBound }
    }

    /// Checks that partitions really have no record of a time or later. Brokers without a time index report this for
    /// every partition, and the group would then skip its entire backlog.
    private func requireOlder(than milliseconds: Int64, _ partitions: [PartitionOffsets]) async throws {
        let filled = partitions.filter { !$0.bounds.isEmpty }
        guard !filled.isEmpty else { return }
        let ends = filled.reduce(into: [:]) { $0[$1.id] = $1.bounds.upperBound }

        let reader = try TopicReader(configuration, log: log)
        let newest = try await asking("the newest records of \(names) cannot be read") {
            var newest: Int64?
            try await reader.read(from: ends.mapValues { $0 - 1 }, upTo: ends, timeout: timeout) { record in
                newest = [newest, record.timestamp].compactMap { $0 }.max()
                return true
            }
            return newest
        }
        guard let newest, newest >= milliseconds else { return }

        throw Failure(
            """
            the brokers at \(brokers) find no record since \(WallTime(milliseconds: milliseconds)), although the \
            newest is of \(WallTime(milliseconds: newest)), so nothing was changed: like the embedded broker, they \
            cannot look up offsets by time; give --to earliest, latest or an offset
            """)
    }

    /// Commits the plan's offsets, and reads them back.
    func apply(_ plan: ResetPlan) async throws {
        let commits = plan.commits
        guard !commits.isEmpty else { return }

        do throws(KafkaError) {
            try await admin.commit(commits, within: timeout)
        } catch  where error.isGroupWithMembers {
            throw Failure(
                """
                the broker refuses to move the offsets of the group \(group), because it has members: stop its workers \
                and wait until they have left (\(error))
                """)
        } catch {
            throw failure(error, "not all offsets of the group \(group) could be moved")
        }

        let now = try await asking("the offsets were moved, but cannot be read") {
            try await admin.commits(of: commits.keys.sorted(), within: timeout)
        }
        if let other = commits.keys.sorted().first(where: { now[$0]?.offset != commits[$0]?.offset }) {
            throw Failure(
                """
                \(other) stands at \(now[other].map { "\($0.offset)" } ?? "no offset") and not at \
                \(commits[other]?.offset ?? 0): another program commits for the group \(group); stop it, then try again
                """)
        }
    }

    // MARK: - Errors

    /// Converts a Kafka error into a one-line failure with the operation, the brokers, and what to do.
    private func asking<Value>(_ what: String, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as KafkaError {
            throw failure(error, what)
        }
    }

    private func failure(_ error: KafkaError, _ what: String) -> Failure {
        let place = "\(what), with the brokers \(brokers)"
        guard error.kind == .authentication else { return Failure(error, doing: place) }
        return Failure("\(place): \(error); `show` needs Describe on the group and the topic, and `reset` needs Read")
    }
}
