internal import Kafka

/// Classifies errors for the delivery of outcomes.
extension KafkaError {
    /// `true` if the producer that returned this error can write nothing more, or is blocked in a call.
    var endsProducer: Bool {
        switch kind {
        case .fatal, .fenced, .hung, .closed: true
        default: false
        }
    }

    /// `true` if the same transactional call may succeed later.
    var mayPass: Bool {
        switch kind {
        case .retriable, .timedOut, .unreachable: true
        default: false
        }
    }
}

/// The remedy by which a refused record is written after all. Both deliveries use it, so that they treat a record
/// alike.
enum RefusalCure: Hashable {
    /// The record is sent again in a batch of one. Brokers refuse a batch as a whole, so another record may have been
    /// the one that is too large.
    case alone
    /// A truncated record replaces the record.
    case truncated
    /// The record is sent again unchanged, once its topic may be retried.
    case later

    /// Chooses the remedy.
    /// - Parameters:
    ///   - wasAlone: `true` if the record was the only one of its batch or transaction.
    ///   - isTruncated: `true` if the record has been truncated already.
    /// - Returns: `nil` for an error that does not concern this record or its topic.
    init?(_ error: KafkaError, wasAlone: Bool, isTruncated: Bool) {
        switch error.kind {
        case .recordTooLarge: self = !wasAlone ? .alone : isTruncated ? .later : .truncated
        case _ where error.isTopicRefusal: self = .later
        default: return nil
        }
    }
}
