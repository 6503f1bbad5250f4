/// The times and sizes by which members reserve calls of a daily budget. Members may use different ones: the effect of
/// a reservation depends on the log alone.
public struct BudgetTerms: Sendable, Hashable {
    /// A member reserves the calls for this much time ahead, at its recent pace. A crash loses at most those.
    public var ahead: Duration = .seconds(1)
    /// The longest time before made calls are reported to the other members, which only display them.
    public var report: Duration = .seconds(1)
    /// The shortest time between two messages of one member.
    public var shortestPause: Duration = .milliseconds(20)
    /// The time after which a member treats its own message as lost, and repeats the request. Each further lost message
    /// doubles it.
    public var timeout: Duration = .seconds(3)
    /// The upper bound of the doubled `timeout`.
    public var longestTimeout: Duration = .seconds(10)
    /// The longest time between two ticks of a member.
    public var tick: Duration = .milliseconds(200)
    /// A member that has made no call for this long returns its reservation, once few calls are left.
    public var idle: Duration = .seconds(3)
    /// After the topic was created again, a member requests no calls for this long. Another member may have read more
    /// of the former topic.
    public var settling: Duration = .seconds(3)
    /// The largest fleet whose members publish about once per `report`. In a larger one, each member publishes less
    /// often and reserves for longer: see `BudgetMember.slowness`.
    public var membersAtFullPace = 50
    /// All members together reserve at most one part in this many of the remaining calls: with 16, a sixteenth.
    public var reservedPart = 16
    /// While many calls are left, a member reserves at least this many calls at once.
    public var smallestBlock = 8
    /// A snapshot is written after this many records. Each fleet that shares the topic writes snapshots, so a small
    /// number would mean many of them.
    public var snapshotRecords: Int64 = 10_000
    /// A snapshot is written after this time, if anything has changed.
    public var snapshotAge: Duration = .seconds(600)

    public init() {}

    /// The number of newest records in which a new member searches for a snapshot. A smaller topic is read completely.
    public static let history: Int64 = 20_000

    /// A member that has reserved no calls for this long is not counted among those that divide the remaining calls.
    var memory: Duration { ahead * 10 }
}
