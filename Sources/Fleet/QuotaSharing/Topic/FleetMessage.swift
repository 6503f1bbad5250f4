/// One message of the fleet topic: a JSON object with one member, whose name is its kind.
public enum FleetMessage: Sendable, Hashable {
    /// A member's message about the limits that are shared by demand.
    case shares(LeaseMessage)
    /// A member's, or a person's, message about daily call budgets.
    case budget(BudgetMessage)
    /// A worker's, or a person's, message about orders that change how workers work.
    case control(ControlMessage)
}

/// One record of the fleet topic.
public struct FleetRecord: Sendable, Hashable {
    /// The record's offset in the topic's only partition. All members read the records in this order.
    public var offset: Int64
    /// True for a record that was there before this process began to read.
    public var isOld = false
    /// The record's message; `nil` for a record without one, for a message of a later version, and where the topic is
    /// read up to this offset without a record there, as at the end of a transaction.
    public var message: FleetMessage?

    public init(offset: Int64, isOld: Bool = false, message: FleetMessage?) {
        self.offset = offset
        self.isOld = isOld
        self.message = message
    }
}

/// The offsets of the fleet topic when a process begins to read it.
public struct FleetTopicExtent: Sendable, Hashable {
    /// The offset of the first record to come; `end` where there is none.
    public var first: Int64
    /// One past the newest record there is.
    public var end: Int64
    /// The offset of the oldest record there is.
    public var oldest: Int64
    /// True when the topic was deleted and made again since it was read last.
    public var isRemade: Bool

    public init(first: Int64, end: Int64, oldest: Int64, isRemade: Bool = false) {
        self.first = first
        self.end = end
        self.oldest = oldest
        self.isRemade = isRemade
    }
}
