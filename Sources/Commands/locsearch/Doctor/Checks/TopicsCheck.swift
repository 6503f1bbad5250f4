import Kafka
import WorkerRuntime

/// Checks whether the topics exist, and how they are configured.
struct TopicsCheck: DoctorCheck {
    static let name = "topics"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let cluster = try examination.connected().cluster
        try examination.requireValid(["topics.", "worker."], "the settings of topics")
        let roles = examination.roles
        let topics: [TopicCreation.Finding]
        do {
            topics = try await Self.creation(examination, brokers: cluster.brokers.count).findings()
        } catch {
            return [failed("\(error)", cure: "check the brokers and their log", code: Failure.unreachable)]
        }

        let settings = examination.settings
        let (loops, requests) = (settings.integer("worker.loops"), settings.topics.requestTopics)
        // A missing fleet topic is reported by `FleetCheck`.
        var findings = missing(
            topics.filter { $0.found == nil && roles.contains($0.topic.role) && $0.topic.role != .fleet }.map(\.topic))
        for topic in topics where roles.contains(topic.topic.role) {
            guard let found = topic.found else { continue }
            findings.append(contentsOf: look(at: topic.topic, found: found, configuration: topic.configuration))
        }

        let counts = requests.compactMap { topic in
            cluster.topics[topic.name].map { (name: topic.name, partitions: $0.partitions) }
        }
        if counts.count == requests.count,
            let finding = lookAtLoops(loops, counts, sharesLimits: examination.sharesByTopic)
        {
            findings.append(finding)
        }
        findings.append(contentsOf: unread(topics.filter { $0.unread != nil && roles.contains($0.topic.role) }))
        return findings
    }

    private static func creation(_ examination: Examination, brokers: Int) throws -> TopicCreation {
        let settings = examination.settings
        var choices = RecommendedTopic.Choices()
        // The number of brokers is reported by another check.
        choices.replicationFactor = min(choices.replicationFactor, max(1, brokers))
        let topics = RecommendedTopic.all(
            names: settings.topics, maxRequestBytes: settings.integer("worker.maxRequestBytes"), choices: choices)
        return try TopicCreation(settings, topics: topics, timeout: examination.timeout, log: examination.log)
    }

    /// The reason is usually the same for all topics.
    private func unread(_ topics: [TopicCreation.Finding]) -> [Finding] {
        guard let reason = topics.first?.unread else { return [] }
        let names = topics.map(\.topic.name).joined(separator: ", ")
        return [
            unknown(
                "the configuration of \(names) (\(reason))",
                cure: "grant this user DescribeConfigs, or compare it with `locsearch topics create --print`")
        ]
    }

    /// Checks whether the request topics together have enough partitions for all loops of a worker.
    /// - Parameters:
    ///   - topics: the request topics, in the order of the settings.
    ///   - sharesLimits: true if workers share limits by demand.
    func lookAtLoops(_ loops: Int, _ topics: [(name: String, partitions: Int)], sharesLimits: Bool) -> Finding? {
        let all = topics.reduce(0) { $0.saturatingAdding($1.partitions) }
        guard all >= loops else {
            let owner = topics.count == 1 ? "\(topics[0].name) has" : "the topics of requests have"
            return warning(
                "\(owner) \(all) partitions, but worker.loops is \(loops): some loops stay idle",
                cure: "lower worker.loops, or add partitions")
        }
        guard sharesLimits, let first = topics.first, first.partitions < loops else { return nil }
        return warning(
            "\(first.name), the first of topics.requests, has \(first.partitions) partitions, but worker.loops is \(loops):"
                + " limits are shared by its partitions, and a loop without one gets only leased quota",
            cure: "lower worker.loops, or add partitions to it")
    }

    /// All missing topics share one line, because the cause is usually the same.
    private func missing(_ topics: [RecommendedTopic]) -> [Finding] {
        guard !topics.isEmpty else { return [] }
        let names = topics.map { "\($0.name) (topics.\($0.role.rawValue))" }.joined(separator: ", ")
        let (verb, them) = topics.count == 1 ? ("does", "it") : ("do", "them")
        return [
            failed(
                "\(names) \(verb) not exist, or this user may not see \(them)",
                cure: "create \(them) with `locsearch topics create`, or grant this user Describe on \(them)")
        ]
    }

    // MARK: - One topic

    /// - Parameter configuration: the configuration that the brokers returned; it may be incomplete.
    func look(
        at topic: RecommendedTopic, found: ClusterDescription.Topic, configuration: [String: String]
    ) -> [Finding] {
        var findings = problems(of: topic, found: found, configuration)
        findings.append(
            contentsOf: topic.deviations(of: found, configuration: configuration).map { deviation in
                warning(deviation.description, cure: Self.cure(for: deviation, of: topic))
            })
        guard findings.isEmpty else { return findings }

        let times = configuration["message.timestamp.type"].map { ", \($0)" } ?? ""
        let sizes = configuration["max.message.bytes"].map { ", batches of up to \($0) bytes" } ?? ""
        return [
            ok("\(topic.name): \(found.partitions) partitions, \(found.replicationFactor) replicas\(times)\(sizes)")
        ]
    }

    /// Finds settings of a topic that contradict each other or the topic's state, independent of the recommendations.
    private func problems(
        of topic: RecommendedTopic, found: ClusterDescription.Topic, _ configuration: [String: String]
    ) -> [Finding] {
        var findings: [Finding] = []
        if !found.leaderless.isEmpty {
            let list = found.leaderless.prefix(8).map(String.init).joined(separator: ", ")
            findings.append(
                failed(
                    "\(topic.name) has no leader in partition \(list), which can be neither read nor written",
                    cure: "restore the brokers that hold these partitions"))
        }
        if let least = configuration["min.insync.replicas"].flatMap({ Int($0) }), least > found.replicationFactor {
            findings.append(
                failed(
                    "\(topic.name) has min.insync.replicas=\(least) and \(found.replicationFactor) replicas: it accepts no records",
                    cure: "lower min.insync.replicas, or add replicas"))
        }
        return findings
    }

    /// Returns the command that corrects the deviation.
    private static func cure(for deviation: TopicDeviation, of topic: RecommendedTopic) -> String {
        switch deviation.what {
        case "partitions": return "`locsearch topics create --add-partitions`, if keys may move"
        case "replication factor": return "add replicas with kafka-reassign-partitions.sh"
        default:
            let value = topic.value(of: deviation.what) ?? ""
            return "kafka-configs.sh --alter --topic \(topic.name) --add-config \(deviation.what)=\(value)"
        }
    }
}
