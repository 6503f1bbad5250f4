public import Kafka

/// An offset without metadata, as most tests commit it.
extension CommittedOffset: ExpressibleByIntegerLiteral {
    public init(integerLiteral offset: Int64) { self.init(offset) }
}
