public import LocationSearch

/// The effects of the orders in force on one lane.
public struct LaneControls: Sendable, Hashable {
    /// The effects on one provider.
    public struct Provider: Sendable, Hashable {
        /// True while the provider must not be called.
        public var isPaused = false
        /// The calls per second that override the setting; `nil`: the setting applies.
        public var perSecond: Double?

        public init() {}
    }

    /// `false` while no request may begin: controls have not been read yet, or they pause intake.
    public var isIntakeOpen = true
    /// The most requests in flight on this lane, overriding its share of the setting; `nil`: the setting applies.
    public var concurrency: Int?
    public var providers: [ProviderID: Provider] = [:]

    public init() {}
}

/// The times and sizes by which workers publish snapshots of the orders in force. Workers may use different ones.
public struct ControlTerms: Sendable, Hashable {
    /// A snapshot is written after this many records of the topic, even without orders. A worker that starts searches
    /// the newest `history` records for one, and otherwise reads the whole topic.
    public var snapshotRecords: Int64 = 10_000
    /// A snapshot is written after this time, if there is an order. It is far below any retention of the topic.
    public var snapshotAge: Duration = .seconds(600)
    /// The longest time between two ticks.
    public var tick: Duration = .seconds(1)

    public init() {}

    /// The number of newest records in which a worker that starts searches for a snapshot: the same as for budgets.
    public static let history = BudgetTerms.history
}
