internal import CRdkafka

/// What Kafka or its client library could not do. Holds no password and no bytes of a record.
public struct KafkaError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable, CaseIterable {
        /// A property is unknown, has a bad value or may not be set: correct the settings.
        case configuration
        /// No broker answers.
        case unreachable
        case authentication
        case timedOut
        /// The client can do nothing more and must be built anew, or the process end.
        case fatal
        /// Another instance took over this identity: the process must end.
        case fenced
        /// The transaction must be aborted, then may be tried again.
        case abortable
        /// May be tried again as it is.
        case retriable
        case recordTooLarge
        case unknownTopicOrPartition
        /// The client is closed.
        case closed
        case other
    }

    /// Whether a record that was not confirmed may stand in the log all the same.
    public enum Status: String, Sendable, CaseIterable {
        case notPersisted
        case possiblyPersisted
        case persisted

        init(_ status: rd_kafka_msg_status_t) {
            self =
                switch status {
                case RD_KAFKA_MSG_STATUS_NOT_PERSISTED: .notPersisted
                case RD_KAFKA_MSG_STATUS_PERSISTED: .persisted
                default: .possiblyPersisted
                }
        }
    }

    public let kind: Kind
    /// Of a record that could not be delivered; `nil` where the error is about something else.
    public private(set) var status: Status?
    /// librdkafka's `rd_kafka_resp_err_t`; 0 where the failure is our own finding.
    public let code: Int32
    public let description: String

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

    init(_ code: rd_kafka_resp_err_t, doing what: String) {
        self.init(
            Self.kind(of: code), code: code.rawValue,
            "\(what): \(String(cString: rd_kafka_err2str(code))) (\(String(cString: rd_kafka_err2name(code))))")
    }

    /// Takes over `error` and frees it.
    init(consuming error: OpaquePointer, doing what: String) {
        defer { rd_kafka_error_destroy(error) }
        let code = rd_kafka_error_code(error)
        let known = Self.kind(of: code)
        let kind: Kind =
            if known == .fenced {
                .fenced
            } else if rd_kafka_error_is_fatal(error) != 0 {
                .fatal
            } else if rd_kafka_error_txn_requires_abort(error) != 0 {
                .abortable
            } else if rd_kafka_error_is_retriable(error) != 0 {
                .retriable
            } else {
                known
            }
        self.init(kind, code: code.rawValue, "\(what): \(String(cString: rd_kafka_error_string(error)))")
    }

    static let closed = KafkaError(.closed, "the Kafka client is closed")

    /// Whether a group's coordinator cannot be reached, or is about to be another broker: over in a moment.
    var isOfCoordinator: Bool {
        kind == .unreachable
            || [
                RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            ].contains(rd_kafka_resp_err_t(code))
    }

    private static func kind(of code: rd_kafka_resp_err_t) -> Kind {
        switch code {
        case RD_KAFKA_RESP_ERR__FATAL: .fatal
        case RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, RD_KAFKA_RESP_ERR_PRODUCER_FENCED: .fenced
        case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__RESOLVE: .unreachable
        case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR__SSL,
            RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            .authentication
        case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
            .timedOut
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: .recordTooLarge
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
            .unknownTopicOrPartition
        case RD_KAFKA_RESP_ERR__DESTROY: .closed
        case RD_KAFKA_RESP_ERR__QUEUE_FULL, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
            RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
            RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR__WAIT_COORD:
            .retriable
        default: .other
        }
    }
}
