import Basics
import WorkerRuntime

extension RecommendedTopic {
    /// The properties of topics that the user can choose.
    struct Choices: Sendable {
        /// The number of partitions of each topic of requests, results and errors. 1 to 10,000.
        var partitions = 12
        /// The number of replicas of each partition. 1 to 9.
        var replicationFactor = 3
        /// How long records are kept, by role. Missing roles have the time in `Choices.retention`.
        var retentions: [Role: Duration] = [:]

        /// The default retention times. Requests and errors must outlast a long weekend. Results are provider data,
        /// whose terms require little storage. Dead letters wait for a person, and perhaps for a release. Fleet
        /// messages matter for seconds, and those about budgets for a month, in which perhaps no worker runs.
        static let retention: [Role: Duration] = [
            .requests: day * 7, .results: day, .errors: day * 7, .deadLetters: day * 30, .fleet: day * 35,
        ]
        private static let day = Duration.seconds(86_400)

        func retention(of role: Role) -> Duration { retentions[role] ?? Self.retention[role] ?? Self.day }
    }

    /// Kafka's default: 1 MiB plus the overhead of a batch. It limits whole batches, so it has to be far larger than
    /// the largest request.
    private static let maxMessageBytes = 1_048_588
    /// The maximum size of the headers that are added to a dead letter, plus the overhead of a batch.
    private static let headerBytes = 65_536
    /// Dead letters are rare. Three partitions are enough even for many of them.
    private static let deadLetterPartitions = 3
    /// Workers need one order for all messages, so there is one partition. The sizes have room for what thousands of
    /// workers publish in a minute.
    private static let (fleetPartitions, fleetBytes, fleetSegmentBytes) = (1, 128 << 20, 32 << 20)

    /// Returns the recommendation for every topic of a worker.
    /// - Parameters:
    ///   - maxRequestBytes: `worker.maxRequestBytes`. Larger records are rejected anyway.
    static func all(
        names: WorkerConfiguration.Topics, maxRequestBytes: Int, choices: Choices = Choices()
    ) -> [RecommendedTopic] {
        let requestBytes = max(maxMessageBytes, maxRequestBytes + headerBytes)

        return Role.allCases.flatMap { role in role.names(in: names).map { (role, $0) } }.map { role, name in
            let partitions =
                switch role {
                case .requests, .results, .errors: choices.partitions
                case .deadLetters: min(deadLetterPartitions, choices.partitions)
                case .fleet: fleetPartitions
                }
            return RecommendedTopic(
                role: role, name: name, partitions: partitions,
                replicationFactor: choices.replicationFactor,
                configurations: retention(of: role, choices: choices) + [
                    maxBytes(of: role, requestBytes: requestBytes),
                    Configuration(
                        name: "cleanup.policy", value: "delete", comparison: .equal,
                        consequence: "compaction would delete unread records whose key is used again"),
                    Configuration(
                        name: "min.insync.replicas", value: "\(max(1, min(2, choices.replicationFactor - 1)))",
                        comparison: .atLeast,
                        consequence: "acknowledged records could be lost if a broker fails"),
                    Configuration(
                        name: "unclean.leader.election.enable", value: "false", comparison: .equal,
                        consequence: "brokers could lose acknowledged records",
                        isSetAtCreation: false),
                ])
        }
    }

    private static func retention(of role: Role, choices: Choices) -> [Configuration] {
        let time = choices.retention(of: role)
        let retention = Configuration(
            name: "retention.ms", value: "\(time.milliseconds(roundedUp: false))",
            comparison: role == .results ? .atMost : .atLeast,
            consequence: role.consequenceOfOtherRetention)
        if role == .fleet { return [retention] + fleetSizes }
        guard role == .results else { return [retention] }

        // Kafka deletes whole segments, and never the active one. With its default of 7 days per segment, results would
        // be kept longer than their retention.
        let segment = max(.seconds(600), time / 24)
        return [
            retention,
            Configuration(
                name: "segment.ms", value: "\(segment.milliseconds(roundedUp: false))", comparison: .atMost,
                consequence: "whole segments are deleted, so results would be kept longer"),
        ]
    }

    private static var fleetSizes: [Configuration] {
        [
            Configuration(
                name: "retention.bytes", value: "\(fleetBytes)", comparison: .atLeast,
                consequence: "starting workers could miss messages about the day's calls"),
            Configuration(
                name: "segment.bytes", value: "\(fleetSegmentBytes)", comparison: .atMost,
                consequence: "whole segments are deleted, so the topic would grow beyond its limit"),
        ]
    }

    private static func maxBytes(of role: Role, requestBytes: Int) -> Configuration {
        let (bytes, consequence) =
            switch role {
            case .requests: (requestBytes, "producers could not send requests that workers accept")
            case .results: (maxMessageBytes, "large results would end as bad-response errors")
            case .errors: (maxMessageBytes, "batches of errors would be rejected and sent again one by one")
            case .deadLetters: (requestBytes + headerBytes, "large dead letters would be kept without their content")
            case .fleet: (maxMessageBytes, "messages of a large fleet would be rejected")
            }
        return Configuration(
            name: "max.message.bytes", value: "\(bytes)", comparison: .atLeast, consequence: consequence)
    }
}

extension RecommendedTopic.Role {
    /// Returns the topics with the role. Only the role of requests can have several.
    func names(in topics: WorkerConfiguration.Topics) -> [String] {
        switch self {
        case .requests: topics.requestTopics.map(\.name)
        case .results: [topics.results]
        case .errors: [topics.errors]
        case .deadLetters: [topics.deadLetters]
        case .fleet: [topics.fleet]
        }
    }

    fileprivate var consequenceOfOtherRetention: String {
        switch self {
        case .requests: "requests that wait longer would be deleted without an outcome"
        case .results: "the providers' terms limit storage"
        case .errors: "consumers that are offline longer would miss errors"
        case .deadLetters: "dead letters could be deleted before they are examined"
        case .fleet: "the count of a day's calls could be lost while no worker runs"
        }
    }
}
