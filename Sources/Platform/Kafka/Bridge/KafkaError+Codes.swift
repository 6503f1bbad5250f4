internal import CRdkafka

/// Converts librdkafka's error codes.
extension KafkaError {
    init(_ code: rd_kafka_resp_err_t, doing what: String) {
        self.init(
            Self.kind(of: code), code: code.rawValue,
            "\(what): \(Self.text(of: code))")
    }

    /// Describes a code. The codes of the protocol have their name, which Kafka's documentation explains. librdkafka's own
    /// codes, which are negative, have names that only its source explains.
    private static func text(of code: rd_kafka_resp_err_t) -> String {
        switch code {
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN: "no broker answers"
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT: "no broker acknowledged the record in time"
        case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE: "no answer in time"
        default: named(String(cString: rd_kafka_err2str(code)), code)
        }
    }

    private static func named(_ text: String, _ code: rd_kafka_resp_err_t) -> String {
        code.rawValue < 0
            ? text.replacing("Local: ", with: "") : "\(text) (\(String(cString: rd_kafka_err2name(code))))"
    }

    /// Converts one of librdkafka's codes, for simulations.
    /// - Parameter code: An `rd_kafka_resp_err_t`: a code of the protocol, or a negative one of librdkafka itself.
    package init(librdkafkaCode code: Int32, doing what: String) { self.init(rd_kafka_resp_err_t(code), doing: what) }

    /// - Parameter reason: The broker's or librdkafka's own text; `nil` if there is none.
    init(_ code: rd_kafka_resp_err_t, doing what: String, reason: UnsafePointer<CChar>?) {
        let general = KafkaError(code, doing: what)
        guard let reason = reason.map({ String(cString: $0) }), !reason.isEmpty else {
            self = general
            return
        }
        self.init(general.kind, code: code.rawValue, "\(what): \(Self.named(reason, code))")
    }

    /// Takes ownership of `error` and frees it.
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

    /// True if a group's coordinator is unreachable or about to move to another broker, which is a temporary state.
    var isOfCoordinator: Bool {
        kind == .unreachable
            || [
                RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            ].contains(rd_kafka_resp_err_t(code))
    }

    /// True if another process with the same `group.instance.id` has replaced this static member.
    public var isMemberReplaced: Bool { code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID.rawValue }

    /// True if the broker rejects offset changes from outside a group because the group has members.
    package var isGroupWithMembers: Bool {
        [
            RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
            RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
            RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP,
        ].contains(rd_kafka_resp_err_t(code))
    }

    /// True if the metadata of a committed offset exceeds the brokers' limit (`offset.metadata.max.bytes`).
    package var isMetadataTooLarge: Bool { code == RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE.rawValue }

    /// True if librdkafka rejects the call itself, such as one with an invalid name of a topic.
    var isInvalidArgument: Bool { code == RD_KAFKA_RESP_ERR__INVALID_ARG.rawValue }

    /// True for librdkafka's report that all brokers are down.
    var areAllBrokersDown: Bool { code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue }

    /// True if the error concerns the connection to one broker.
    var isOfConnection: Bool {
        [
            RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__SSL,
            RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR__TIMED_OUT,
        ].contains(rd_kafka_resp_err_t(code))
    }

    /// True if a topic accepts no records until an operator acts: no permission, no such topic, or a policy of the
    /// brokers.
    public var isTopicRefusal: Bool {
        [
            RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
            RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
            RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, RD_KAFKA_RESP_ERR_POLICY_VIOLATION, RD_KAFKA_RESP_ERR_INVALID_RECORD,
        ].contains(rd_kafka_resp_err_t(code))
    }

    /// True for the delivery report of a record that librdkafka purged with its transaction. The record may have been
    /// sent before, and may be in the log.
    package var isRecordPurged: Bool {
        code == RD_KAFKA_RESP_ERR__PURGE_QUEUE.rawValue || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT.rawValue
    }

    /// The error with its cure, if it explains why the group does not admit a member; `nil` for any other error.
    var asGroupRefusal: KafkaError? {
        let cures = [
            RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL.rawValue:
                "the group's members use another partition.assignment.strategy: set theirs, or stop all members first",
            RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue: "this user needs Read on the group",
            RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED.rawValue: "the brokers allow no more members (group.max.size)",
        ]
        return cures[code].map { KafkaError(kind, code: code, "\($0) (\(description))") }
    }

    /// Returns whether a fatal error means that another instance has taken over this client's identity.
    static func isFencing(_ code: rd_kafka_resp_err_t) -> Bool {
        kind(of: code) == .fenced || code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH
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
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE: .recordsMissing
        case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION: .unsupported
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

extension KafkaError.Status {
    init(_ status: rd_kafka_msg_status_t) {
        self =
            switch status {
            case RD_KAFKA_MSG_STATUS_NOT_PERSISTED: .notPersisted
            case RD_KAFKA_MSG_STATUS_PERSISTED: .persisted
            default: .possiblyPersisted
            }
    }
}
