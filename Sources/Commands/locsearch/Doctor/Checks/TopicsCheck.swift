import Kafka
import WorkerRuntime

/// Checks whether the topics exist, and how they are configured.
struct TopicsCheck: DoctorCheck {
    static let name = "topics"

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard let cluster = examination.cluster, let admin = examination.admin else {
            return [skipped(examination.reasonWithoutBrokers ?? "", cure: Examination.brokersFirst)]
        }
        guard !examination.reading.concerns(["topics.", "worker."]) else {
            return [skipped("the settings of topics are invalid", cure: Examination.brokersFirst)]
        }

        var choices = RecommendedTopic.Choices()
        // The number of brokers is reported by another check.
        choices.replicationFactor = min(choices.replicationFactor, max(1, cluster.brokers.count))
        let settings = examination.settings
        let topics = RecommendedTopic.all(
            names: settings.topics, maxRequestBytes: settings.integer("worker.maxRequestBytes"), choices: choices)

        var findings: [Finding] = []
        var unread: [(topic: String, reason: String)] = []
        for topic in topics where examination.roles.contains(topic.role) {
            guard let found = cluster.topics[topic.name] else {
                // A missing fleet topic is reported by `FleetCheck`.
                if topic.role != .fleet { findings.append(missing(topic)) }
                continue
            }
            var configuration: [String: String] = [:]
            do throws(KafkaError) {
                configuration = try await admin.configuration(of: topic.name, within: examination.timeout)
            } catch {
                unread.append((topic.name, error.description))
            }
            examination.topicConfigurations[topic.name] = configuration
            // With several request topics, loops are checked separately below.
            let loops = settings.topics.requestTopics.count > 1 ? 1 : settings.integer("worker.loops")
            findings.append(contentsOf: look(at: topic, found: found, configuration: configuration, loops: loops))
        }

        let counts = settings.topics.requestTopics.compactMap { topic in
            cluster.topics[topic.name].map { (name: topic.name, partitions: $0.partitions) }
        }
        if counts.count > 1, counts.count == settings.topics.requestTopics.count,
            let finding = lookAtLoops(
                settings.integer("worker.loops"), counts, sharesLimits: examination.sharesByTopic)
        {
            findings.append(finding)
        }

        // The reason is usually the same for all topics.
        if let first = unread.first {
            let names = unread.map(\.topic).joined(separator: ", ")
            findings.append(
                unknown(
                    "the configuration of \(names) (\(first.reason))",
                    cure: "grant this user DescribeConfigs, or compare it with `locsearch topics create --print`"))
        }
        return findings
    }

    /// Checks whether several request topics together have enough partitions for all loops of a worker.
    /// - Parameters:
    ///   - topics: the request topics, in the order of the settings.
    ///   - sharesLimits: true if workers share limits by demand.
    func lookAtLoops(_ loops: Int, _ topics: [(name: String, partitions: Int)], sharesLimits: Bool) -> Finding? {
        let all = topics.reduce(0) { $0.saturatingAdding($1.partitions) }
        guard all >= loops else {
            return warning(
                "the topics of requests have \(all) partitions, but worker.loops is \(loops): some loops stay idle",
                cure: "lower worker.loops, or add partitions")
        }
        guard sharesLimits, let first = topics.first, first.partitions < loops else { return nil }
        return warning(
            "\(first.name), the first of topics.requests, has \(first.partitions) partitions, but worker.loops is \(loops):"
                + " limits are shared by its partitions, and a loop without one gets only leased quota",
            cure: "lower worker.loops, or add partitions to it")
    }

    private func missing(_ topic: RecommendedTopic) -> Finding {
        failed(
            "\(topic.name) (topics.\(topic.role.rawValue)) does not exist, or this user may not see it",
            cure: "create it with `locsearch topics create`, or grant this user Describe on it")
    }

    // MARK: - One topic

    /// - Parameter configuration: the configuration that the brokers returned; it may be incomplete.
    func look(
        at topic: RecommendedTopic, found: ClusterDescription.Topic, configuration: [String: String], loops: Int
    ) -> [Finding] {
        var findings = problems(of: topic, found: found, configuration, loops: loops)
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
        of topic: RecommendedTopic, found: ClusterDescription.Topic, _ configuration: [String: String], loops: Int
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
        if topic.role == .requests, found.partitions < loops {
            findings.append(
                warning(
                    "\(topic.name) has \(found.partitions) partitions, but worker.loops is \(loops): some loops stay idle",
                    cure: "lower worker.loops, or add partitions"))
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
