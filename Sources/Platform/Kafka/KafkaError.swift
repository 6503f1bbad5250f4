/// A failure of Kafka or of its client library. Holds no password and no bytes of a record.
public struct KafkaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors, by what a program can do about them.
    public enum Kind: String, Sendable, CaseIterable {
        /// A property is unknown, has a bad value or may not be set: correct the settings.
        case configuration
        /// No broker answers. The description names the brokers that were tried, and why each could not be reached.
        case unreachable
        /// A broker refused the credentials, or what this user may do.
        case authentication
        /// No answer came in time.
        case timedOut
        /// A call into librdkafka did not return in time. It holds the client, which must be abandoned and built anew.
        case hung
        /// The client can do nothing more and must be built anew, or the process end.
        case fatal
        /// Another instance took over this identity: the process must end.
        case fenced
        /// The transaction must be aborted, then may be tried again.
        case abortable
        /// The call may be made again as it is.
        case retriable
        /// The record is larger than the client or the topic takes.
        case recordTooLarge
        /// The topic or the partition does not exist.
        case unknownTopicOrPartition
        /// Records that were to be read next are not there: they were deleted, or their topic was made anew.
        case recordsMissing
        /// The broker, or the client library, cannot do what was asked.
        case unsupported
        /// The client is closed.
        case closed
        /// Anything else; the description says what.
        case other
    }

    /// Says whether a record that was not confirmed may stand in the log all the same.
    public enum Status: String, Sendable, CaseIterable {
        /// The record is not in the log.
        case notPersisted
        /// The record may be in the log: it was sent, and no answer came.
        case possiblyPersisted
        /// The record is in the log.
        case persisted
    }

    /// The kind of the error, by what can be done about it.
    public let kind: Kind
    /// The status of a record that could not be delivered; `nil` where the error is about something else.
    public private(set) var status: Status?
    /// librdkafka's `rd_kafka_resp_err_t`; 0 where the failure is our own finding.
    public let code: Int32
    /// One line for a person.
    public let description: String

    /// - Parameter code: librdkafka's `rd_kafka_resp_err_t`; 0 where the failure is our own finding.
    public init(_ kind: Kind, code: Int32 = 0, _ description: String) {
        self.kind = kind
        self.code = code
        self.description = description
    }

    /// Returns the same error as the report on one record.
    package func with(_ status: Status) -> KafkaError {
        var error = self
        error.status = status
        return error
    }

    static let closed = KafkaError(.closed, "the Kafka client is closed")
}
