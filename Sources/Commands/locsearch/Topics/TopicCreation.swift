import Kafka
import Logging

/// Creates topics, or finds problems of existing ones. Existing topics are never changed, except that `makeMissing`
/// adds partitions on request.
struct TopicCreation {
    /// The state of one topic.
    struct Finding: Sendable {
        enum State: Sendable, Hashable {
            case missing
            case asRecommended
            case deviating
        }

        let topic: RecommendedTopic
        var deviations: [TopicDeviation] = []
        /// The topic as the brokers describe it; `nil` if it is missing.
        var found: ClusterDescription.Topic?
        /// The topic's configuration, as far as the brokers return it.
        var configuration: [String: String] = [:]
        /// Why the topic's configuration could not be read; `nil` if it was read, or if the topic is missing.
        var unread: String?

        var state: State { found == nil ? .missing : deviations.isEmpty ? .asRecommended : .deviating }

        /// The recommended settings that are missing in an otherwise complete answer of the brokers.
        var untold: [String] {
            guard found != nil, unread == nil else { return [] }
            return topic.configurations.map(\.name).filter { configuration[$0] == nil }
        }
    }

    private let admin: TopicAdmin
    private let brokers: String
    private let topics: [RecommendedTopic]
    private let timeout: Duration

    /// - Parameter timeout: how long the brokers may take for each answer.
    init(_ settings: Settings, topics: [RecommendedTopic], timeout: Duration, log: Logger) throws {
        admin = try TopicAdmin(try settings.consumer(), log: log)
        brokers = settings.text("kafka.bootstrapServers")
        self.topics = topics
        self.timeout = timeout
    }

    // MARK: - Comparing

    /// Compares the existing topics with the recommendation.
    /// - Throws: `Failure` if the brokers do not answer, or there are fewer brokers than replicas of a missing topic.
    func findings() async throws -> [Finding] {
        let cluster = try await asking("the topics at \(brokers) cannot be listed") {
            try await admin.cluster(within: timeout)
        }

        var findings: [Finding] = []
        for topic in topics {
            guard let found = cluster.topics[topic.name] else {
                try Self.requireBrokers(of: cluster, for: topic)
                findings.append(Finding(topic: topic))
                continue
            }
            findings.append(await finding(of: topic, found: found))
        }
        return findings
    }

    private func finding(of topic: RecommendedTopic, found: ClusterDescription.Topic) async -> Finding {
        var (configuration, unread): ([String: String], String?) = ([:], nil)
        do throws(KafkaError) {
            configuration = try await admin.configuration(of: topic.name, within: timeout)
        } catch {
            unread = "\(error)"
        }

        return Finding(
            topic: topic, deviations: topic.deviations(of: found, configuration: configuration), found: found,
            configuration: configuration, unread: unread)
    }

    private static func requireBrokers(of cluster: ClusterDescription, for topic: RecommendedTopic) throws(Failure) {
        guard cluster.brokers.count < topic.replicationFactor else { return }

        let brokers = cluster.brokers.count == 1 ? "is 1 broker" : "are \(cluster.brokers.count) brokers"
        throw Failure(
            "\(topic.name) cannot have \(topic.replicationFactor) replicas, because there \(brokers): "
                + "give --replication-factor \(cluster.brokers.count) if losing records with a broker is acceptable",
            code: Failure.configuration)
    }

    // MARK: - Creating

    /// Creates the missing topics.
    /// - Parameter report: receives a line for each change.
    /// - Throws: `Failure` for the first topic that cannot be created. Topics created before it stay, and the next run
    ///   continues with the rest.
    func makeMissing(of findings: [Finding], addingPartitions: Bool, report: (String) -> Void) async throws {
        for finding in findings where finding.state == .missing {
            let topic = finding.topic
            let isNew = try await asking("\(topic.name) at \(brokers) cannot be created") {
                try await admin.create(topic.new, within: timeout)
            }
            report(isNew ? "created \(topic.name)" : try await reasonNotMade(topic))
        }

        guard addingPartitions else { return }
        for finding in findings {
            let topic = finding.topic
            guard let found = finding.found, found.partitions < topic.partitions else { continue }
            try await asking("no partitions can be added to \(topic.name) at \(brokers)") {
                try await admin.setPartitions(topic.partitions, of: topic.name, within: timeout)
            }
            report("\(topic.name) has \(topic.partitions) partitions now; it had \(found.partitions)")
        }
    }

    /// Explains why a topic was not created. The brokers report that it exists, although it was not visible before.
    private func reasonNotMade(_ topic: RecommendedTopic) async throws -> String {
        let cluster = try await asking("the topics at \(brokers) cannot be listed") {
            try await admin.cluster(within: timeout)
        }
        if cluster.topics[topic.name] != nil { return "another program has created \(topic.name) in the meantime" }
        return "\(topic.name) already exists, but was not checked: this user needs Describe on it"
    }

    /// Converts a Kafka error into a one-line failure that names the operation and the brokers.
    private func asking<Value>(_ what: String, body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as KafkaError where error.kind == .unsupported {
            throw Failure(
                "\(what): these brokers, such as the embedded broker, do not support this request;"
                    + " use their own tools (\(error))")
        } catch let error as KafkaError {
            throw Failure(error, doing: what)
        }
    }
}
