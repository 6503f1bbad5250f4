import Kafka

/// A difference between an existing topic and the recommendation.
struct TopicDeviation: Sendable, Hashable, CustomStringConvertible {
    let topic: String
    /// The property that differs, such as `retention.ms` or `partitions`.
    let what: String
    let actual: String
    let recommended: String
    let consequence: String

    /// The difference in one line.
    var description: String { "\(topic): \(what) is \(actual), recommended \(recommended): \(consequence)" }
}

extension RecommendedTopic {
    /// Returns the differences that matter. More partitions, more replicas or a longer retention than recommended do
    /// not.
    /// - Parameter configuration: the topic's configuration as the brokers return it. Missing values are not checked.
    func deviations(of topic: ClusterDescription.Topic, configuration: [String: String]) -> [TopicDeviation] {
        var deviations: [TopicDeviation] = []
        if topic.partitions < partitions {
            deviations.append(
                deviation(
                    "partitions", actual: "\(topic.partitions)", recommended: "at least \(partitions)",
                    consequence: role == .deadLetters
                        ? "dead letters wait for each other" : "it limits the number of workers"))
        }
        if topic.replicationFactor < replicationFactor {
            deviations.append(
                deviation(
                    "replication factor", actual: "\(topic.replicationFactor)", recommended: "\(replicationFactor)",
                    consequence: "records can be lost if brokers fail"))
        }

        for wanted in configurations {
            guard let actual = configuration[wanted.name], !wanted.isMet(by: actual) else { continue }
            deviations.append(
                deviation(
                    wanted.name, actual: RecommendedTopic.Configuration.shown(actual, of: wanted.name),
                    recommended: wanted.expectation,
                    consequence: wanted.consequence))
        }
        return deviations
    }

    private func deviation(_ what: String, actual: String, recommended: String, consequence: String) -> TopicDeviation {
        TopicDeviation(
            topic: name, what: what, actual: actual, recommended: recommended, consequence: consequence)
    }

}

extension RecommendedTopic.Configuration {
    /// Returns true if an existing topic's value is as good as the recommended one. For retention settings, -1 means no
    /// limit.
    func isMet(by actual: String) -> Bool {
        guard comparison != .equal, let actual = Int64(actual), let wanted = Int64(value) else {
            return actual.lowercased() == value.lowercased()
        }

        let isUnlimited = name.hasPrefix("retention.") && actual < 0
        return switch comparison {
        case .atLeast: isUnlimited || actual >= wanted
        case .atMost: !isUnlimited && actual <= wanted
        case .equal: actual == wanted
        }
    }

    /// The recommended value in words, such as `at most 86400000 (1d)`.
    fileprivate var expectation: String {
        let shown = Self.shown(value, of: name)
        return switch comparison {
        case .atLeast: "at least \(shown)"
        case .atMost: "at most \(shown)"
        case .equal: shown
        }
    }

    /// Returns a value with its duration: `86400000 (24h)`.
    static func shown(_ value: String, of name: String) -> String {
        guard name.hasSuffix(".ms"), let milliseconds = Int64(value) else { return value }
        return milliseconds < 0 ? "\(value) (forever)" : "\(value) (\(Duration.milliseconds(milliseconds).text))"
    }
}
