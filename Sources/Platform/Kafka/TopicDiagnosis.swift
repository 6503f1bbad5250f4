/// The state of a topic, as the brokers report it.
public enum TopicDiagnosis: Sendable, Hashable {
    /// No broker answered in time, so the state is unknown.
    case noBrokerAnswers
    /// A broker reported that the topic does not exist, or that this user may not see it.
    case refused(KafkaError)
    /// These partitions have no leader and cannot be written to.
    case withoutLeader([Int32])
    /// The topic exists, and each of its partitions has a leader.
    case complete
}
