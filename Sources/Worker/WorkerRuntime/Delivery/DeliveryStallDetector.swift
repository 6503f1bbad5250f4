internal import Basics
internal import Kafka

/// Notices a topic that confirms nothing although records wait for it. librdkafka keeps such records and goes on trying, so
/// no delivery report says what is wrong: a topic that this user may not see, or a partition without a leader.
///
/// Counting costs a request two additions; only `stalledTopics` looks at the clock. Confined to its lane; not `Sendable`.
final class DeliveryStallDetector {
    /// The topics that a lane writes to.
    enum Topic: Int, CaseIterable {
        case results
        case errors
        case deadLetters
    }

    /// A topic that confirms nothing for this long has timed out. Long against a round trip to slow brokers, short against the
    /// 10 s within which a worker says what is wrong.
    static let timeout = Duration.seconds(5)

    private struct Count {
        var handedOver = 0
        var confirmed = 0
        /// The value of `confirmed` when it was last seen to move, and the instant of that.
        var lastSeen = 0
        var lastMoved: Instant?
    }

    private var counts = [Count](repeating: Count(), count: Topic.allCases.count)

    func handedOver(to topic: Topic) { counts[topic.rawValue].handedOver += 1 }

    func confirmed(by topic: Topic) { counts[topic.rawValue].confirmed += 1 }

    /// Returns the topics that have confirmed nothing for longer than `timeout` although records wait. Call it often: a
    /// topic counts as timed out from the second call on that finds no progress.
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
