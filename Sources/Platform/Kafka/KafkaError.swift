/// A failure of Kafka or of its client library. Contains no password and no bytes of a record.
public struct KafkaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors, by how a program can react to them.
    public enum Kind: String, Sendable, CaseIterable {
        /// A property is unknown, has an invalid value or may not be set: correct the settings.
        case configuration
        /// No broker answers. The description names the brokers that were tried, and why each was unreachable.
        case unreachable
        /// A broker rejected the credentials, or the user lacks a permission.
        case authentication
        /// No answer arrived in time.
        case timedOut
        /// A call into librdkafka did not return in time. It still uses the client, which must be abandoned and
        /// replaced.
        case hung
        /// The client has failed permanently: replace it, or end the process.
        case fatal
        /// Another instance took over this transactional or static member id: the process must end.
        case fenced
        /// The transaction must be aborted, and may then be retried.
        case abortable
        /// The same call may be retried.
        case retriable
        /// The record is larger than the client or the topic allows.
        case recordTooLarge
        /// The topic or the partition does not exist.
        case unknownTopicOrPartition
        /// The next records to read are missing: they were deleted, or their topic was created again.
        case recordsMissing
        /// The broker or the client library does not support the operation.
        case unsupported
        case closed
        /// Any other error; see the description.
        case other
    }

    /// Whether an unacknowledged record may still be in the log.
    public enum Status: String, Sendable, CaseIterable {
        /// The record is not in the log.
        case notPersisted
        /// The record may be in the log: it was sent, and no answer arrived.
        case possiblyPersisted
        /// The record is in the log.
        case persisted
    }

    /// The kind of the error, by how a program can react to it.
    public let kind: Kind
    /// Whether an undelivered record may be in the log; `nil` if the error does not concern a record.
    public private(set) var status: Status?
    /// librdkafka's `rd_kafka_resp_err_t`; 0 if this module found the failure itself.
    public let code: Int32
    /// One line for operators.
    public let description: String

    /// - Parameter code: librdkafka's `rd_kafka_resp_err_t`; 0 if this module found the failure itself.
    public init(_ kind: Kind, code: Int32 = 0, _ description: String) {
        (self.kind, self.code, self.description) = (kind, code, description)
    }

    /// Returns the same error as the delivery report of one record.
    package func with(_ status: Status) -> KafkaError {
        var error = self
        error.status = status
        return error
    }

    static let closed = KafkaError(.closed, "the Kafka client is closed")
}
