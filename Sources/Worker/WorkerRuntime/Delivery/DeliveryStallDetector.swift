internal import Kafka

/// Detects topics that acknowledge no records although some are unconfirmed.
///
/// librdkafka keeps such records and retries, so no delivery report states the cause. Examples are a topic that this
/// user may not describe, or a partition without a leader.
///
/// Counting costs two additions per request; only `stalledTopics` compares times. Confined to its lane; not `Sendable`.
final class DeliveryStallDetector {
    /// The topics that a lane writes to.
    enum Topic: Int, CaseIterable {
        case results
        case errors
        case deadLetters
    }

    /// A topic that acknowledges nothing for this long has timed out. It is long compared with a round trip to slow
    /// brokers, and shorter than the 10 s within which a worker reports a problem.
    static let timeout = Duration.seconds(5)

    private struct Count {
        var handedOver = 0
        var confirmed = 0
        /// The value of `confirmed` at its last observed change, and the time of that observation.
        var lastSeen = 0
        var lastMoved: Instant?
    }

    private var counts = [Count](repeating: Count(), count: Topic.allCases.count)

    func handedOver(to topic: Topic) { counts[topic.rawValue].handedOver += 1 }

    func confirmed(by topic: Topic) { counts[topic.rawValue].confirmed += 1 }

    /// Returns the topics that have acknowledged nothing for longer than `timeout` although records are unconfirmed.
    /// Call it often: a topic counts as timed out no earlier than the second call that finds no progress.
    func stalledTopics(at now: Instant) -> [Topic] {
        Topic.allCases.filter { topic in
            let count = counts[topic.rawValue]
            if count.handedOver == count.confirmed {
                counts[topic.rawValue].lastMoved = nil
                return false
            }

            guard let lastMoved = count.lastMoved, count.lastSeen == count.confirmed else {
                counts[topic.rawValue].lastSeen = count.confirmed
                counts[topic.rawValue].lastMoved = now
                return false
            }
            return now - lastMoved > Self.timeout
        }
    }
}

extension WorkerConfiguration.Topics {
    func name(of topic: DeliveryStallDetector.Topic) -> String {
        switch topic {
        case .results: results
        case .errors: errors
        case .deadLetters: deadLetters
        }
    }
}
