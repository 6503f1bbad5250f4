/// The times and sizes by which workers write down the orders that are in force. Workers may use different ones.
public struct ControlTerms: Sendable, Hashable {
    /// A snapshot is written after this many records of the topic, also of an empty book: a worker that starts looks for one
    /// among the newest `history` records, and reads all of the topic where there is none.
    public var snapshotRecords: Int64 = 10_000
    /// A snapshot is written after this time, if there is an order. It is far below any retention of the topic.
    public var snapshotAge: Duration = .seconds(600)
    /// The longest time between two ticks.
    public var tick: Duration = .seconds(1)

    public init() {}

    /// The number of newest records among which a worker that starts looks for a snapshot: as many as for one of budgets.
    public static let history = BudgetTerms.history
}
