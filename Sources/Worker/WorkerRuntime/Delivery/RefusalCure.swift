internal import Kafka

/// The measure that gets a refused record written after all. Both deliveries ask here, so that they treat a record alike.
enum RefusalCure: Hashable {
    /// The record is sent again without any other. Brokers refuse a batch as a whole, so another record of it may have been the
    /// one that is too large.
    case alone
    /// A truncated record takes the record's place.
    case truncated
    /// The record is sent again as it is, once its topic may be tried again.
    case later

    /// Chooses the cure.
    /// - Parameters:
    ///   - wasAlone: the record was refused without any other in its batch or transaction.
    ///   - isTruncated: the record is a truncated one already.
    /// - Returns: `nil` for an error that is not about this record or its topic.
    init?(_ error: KafkaError, wasAlone: Bool, isTruncated: Bool) {
        switch error.kind {
        case .recordTooLarge: self = !wasAlone ? .alone : isTruncated ? .later : .truncated
        case _ where error.isTopicRefusal: self = .later
        default: return nil
        }
    }
}
