/// A member of a fleet, which shares quota with the other workers of its group: in proportion to the partitions that
/// each owns, and beyond that by messages.
public protocol FleetMember {
    /// `true` if no provider may be called before the number of partitions is known, because the share depends on it.
    var sharesByPartitions: Bool { get }

    /// `true` if quota is shared by messages, so that `tick` and `receive` must be called.
    var usesMessages: Bool { get }

    /// Called at each rebalance: before a revocation is acknowledged, and after an assignment.
    /// - Parameters:
    ///   - assigned: all partitions of the first request topic that this member owns from now on.
    ///   - partitions: the number of that topic's partitions; 0: unknown.
    ///   - wasTaken: true if some were lost without a revocation, so that others may have owned them meanwhile.
    func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) async

    /// Updates the state for the current time. Call it after each `assign` and `receive`, and when `nextTick` of the
    /// last tick has passed.
    func tick() async -> FleetTick

    /// Registers `wake`, which is called when `tick` should be called at once, before `nextTick` has passed.
    func onWakeUp(_ wake: @escaping @Sendable () -> Void) async

    /// Processes what was read from the fleet topic, including this member's own messages.
    /// - Returns: `true` if the records since the topic was opened are not sufficient, so that it must be read from its
    ///   oldest record on.
    func receive(_ news: FleetNews) async -> Bool

    /// Ends the sharing: no quota that is shared by messages is used after this call.
    /// - Returns: the last messages.
    func leave() async -> [FleetMessage]
}

/// The result of a tick.
public struct FleetTick: Sendable {
    /// The messages to publish at once.
    public var messages: [FleetMessage] = []
    /// `false` while no request may begin, because the member has no quota yet.
    public var isReady = true
    /// The time until the next tick.
    public var nextTick: Duration = LeaseTimes.tick
}
