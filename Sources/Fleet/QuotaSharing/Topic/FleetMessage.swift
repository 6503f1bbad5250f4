/// The content of one message of the fleet topic.
public enum FleetMessage: Sendable, Hashable {
    /// A member's message about the limits that are shared by demand.
    case shares(LeaseMessage)
    /// A message of a member or an operator about daily call budgets.
    case budget(BudgetMessage)
    /// A message of a worker or an operator about orders that change how workers run.
    case control(ControlMessage)
}

/// One record of the fleet topic.
public struct FleetRecord: Sendable, Hashable {
    /// The record's offset in the topic's only partition. All members read the records in this order.
    public var offset: Int64
    /// True for a record that existed before this process began to read.
    public var isOld = false
    /// The record's message. `nil` for a record without one of this fleet and version, and for an offset without a
    /// record, as at the end of a transaction.
    public var message: FleetMessage?

    public init(offset: Int64, isOld: Bool = false, message: FleetMessage?) {
        (self.offset, self.isOld, self.message) = (offset, isOld, message)
    }
}

/// The result of reading the fleet topic.
public struct FleetNews: Sendable {
    /// Set when the topic has been opened, for the first time or again. `records` follow from here.
    public var opened: FleetTopicExtent?
    /// The next records, in their order.
    public var records: [FleetRecord]

    public init(opened: FleetTopicExtent? = nil, records: [FleetRecord] = []) {
        self.opened = opened
        self.records = records
    }
}

/// The offsets of the fleet topic when a process begins to read it.
public struct FleetTopicExtent: Sendable, Hashable {
    /// The offset of the first record that will be read; `end` if there is none.
    public var first: Int64
    /// The offset after the newest record.
    public var end: Int64
    /// The offset of the oldest record.
    public var oldest: Int64
    /// True if the topic was deleted and created again since it was last read.
    public var isRemade: Bool

    public init(first: Int64, end: Int64, oldest: Int64, isRemade: Bool = false) {
        (self.first, self.end, self.oldest, self.isRemade) = (first, end, oldest, isRemade)
    }
}
