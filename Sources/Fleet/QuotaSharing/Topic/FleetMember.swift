/// A member of a fleet, which shares quota with the other workers of its group: in proportion to the partitions that each
/// owns, and beyond that by messages.
public protocol FleetMember: Sendable {
    /// `true` when nothing may be asked before the number of partitions is known, because the share follows from it.
    nonisolated var sharesByPartitions: Bool { get }

    /// `true` when quota is shared by messages: `tick` and `receive` have to be called then.
    nonisolated var usesMessages: Bool { get }

    /// Called at each rebalance: before a loss is acknowledged, after a gain.
    /// - Parameters:
    ///   - assigned: all partitions of the first topic of requests that this member owns from now on.
    ///   - partitions: the number of that topic's partitions; 0: not known yet.
    ///   - wasTaken: true when some were taken away without a revocation, so that others may have had them for a while.
    func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) async

    /// Looks at the clock. To be called after each `assign` and `receive`, and when the time has passed that the last
    /// tick named.
    func tick() async -> FleetTick

    /// Has `wake` called when `tick` should be called at once although its time has not come.
    func onWakeUp(_ wake: @escaping @Sendable () -> Void) async

    /// Begins with the topic, for the first time or anew. `receive` follows for each record.
    func topicOpened(_ extent: FleetTopicExtent) async

    /// `true` when the records since `topicOpened` do not hold all that is needed, so that the topic must be read from
    /// its oldest record on.
    var needsOlderRecords: Bool { get async }

    /// Takes in records of the fleet topic in their order, this member's own messages among them.
    func receive(_ records: [FleetRecord]) async

    /// Ends the sharing: no quota that is shared by messages is used from here on.
    /// - Returns: the last messages.
    func leave() async -> [FleetMessage]
}

/// The result of a tick.
public struct FleetTick: Sendable {
    /// The messages to publish at once.
    public var messages: [FleetMessage] = []
    /// `false` while no request may begin, because there is no quota yet that it could use.
    public var isReady = true
    /// The time until the next tick is due.
    public var nextTick: Duration = LeaseTimes().tick
}
