internal import Kafka

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
