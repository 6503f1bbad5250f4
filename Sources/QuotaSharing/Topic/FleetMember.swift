internal import Resilience

/// Shares something with the other workers of its group: in proportion to the partitions that each owns, and beyond that by
/// what they tell each other.
public protocol FleetMember: Sendable {
    /// `true` when nothing may be asked before the number of partitions is known, because the share follows from it.
    nonisolated var sharesByPartitions: Bool { get }

    /// `true` when something is shared by words: `tick` and `receive` have to be called then.
    nonisolated var usesMessages: Bool { get }

    /// Called at each rebalance: before a loss is acknowledged, after a gain.
    /// - Parameters:
    ///   - assigned: the partitions that are this member's from now on, all of them.
    ///   - partitions: the number of partitions of the requests topic; 0: not known yet.
    ///   - wasTaken: true when some were taken away without our word, so that others may have had them for a while.
    func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) async

    /// Looks at the clock. To be called after each `owns` and `receive`, and when the time is over that the last look named.
    func tick() async -> FleetTick

    /// Has `wake` called when `tick` should be called at once although its time has not come.
    func onWakeUp(_ wake: @escaping @Sendable () -> Void) async

    /// The topic is read from some record on, for the first time or anew. `receive` follows for each record.
    func topicOpened(_ extent: FleetTopicExtent) async

    /// `true` when the records that were heard since `topicOpened` do not tell all, so that the topic must be read from its oldest
    /// record on.
    var needsOlderRecords: Bool { get async }

    /// Takes what the fleet says, this member's own words among it, in the order of the topic.
    func receive(_ records: [FleetRecord]) async

    /// Ends the sharing: nothing that is shared by words is used from here on.
    /// - Returns: the last words.
    func leave() async -> [FleetMessage]
}

/// What a member saw when it looked at the clock.
public struct FleetTick: Sendable {
    /// What is to be said to the fleet at once.
    public var messages: [FleetMessage]
    /// `false` while no request may begin, because there is nothing that it could use and soon will be.
    public var isReady: Bool
    /// The time until the next look is due.
    public var nextTick: Duration

    public init(messages: [FleetMessage] = [], isReady: Bool = true, nextTick: Duration = LeaseTimes().tick) {
        self.messages = messages
        self.isReady = isReady
        self.nextTick = nextTick
    }
}
