/// The brokers' answer when they are asked about a topic.
public enum TopicDiagnosis: Sendable, Hashable {
    /// Nobody answered in time, so nothing is known of the topic.
    case noBrokerAnswers
    /// A broker says that the topic does not exist, or that this user may not see it.
    case refused(KafkaError)
    /// These partitions have no leader, so nothing can be written to them.
    case withoutLeader([Int32])
    /// The topic is there, and each of its partitions has a leader.
    case complete
}
