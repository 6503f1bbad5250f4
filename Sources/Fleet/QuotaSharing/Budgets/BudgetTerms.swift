/// The times and sizes by which members reserve calls of a daily budget. Members may use different ones: the effect of a
/// reservation follows from the log alone.
public struct BudgetTerms: Sendable, Hashable {
    /// A member reserves the calls of this much time ahead, at its recent pace. A crash strands at most those.
    public var ahead: Duration = .seconds(1)
    /// The longest time for which made calls wait to be reported to the others, who only show them.
    public var report: Duration = .seconds(1)
    /// The shortest time between two messages of one member.
    public var shortestPause: Duration = .milliseconds(20)
    /// The time after which a member takes its own message for lost, and asks again. Doubles with each message in vain.
    public var timeout: Duration = .seconds(3)
    /// The longest such wait.
    public var longestTimeout: Duration = .seconds(10)
    /// The longest time between two ticks of a member.
    public var tick: Duration = .milliseconds(200)
    /// A member that has made no call for this long gives back its reservation, once little is left.
    public var idle: Duration = .seconds(3)
    /// After the topic was made again, a member asks for no calls for this long: another one may have read more of the former topic.
    public var settling: Duration = .seconds(3)
    /// The largest fleet whose members publish about once in `report`. In a larger one each publishes less often, and reserves
    /// for longer: see `BudgetMember.slowness`.
    public var membersAtFullPace = 50
    /// All members together reserve at most one part in so many of what is left: with 16, a sixteenth.
    public var reservedPart = 16
    /// While much of the budget is left, a member reserves at least this many calls at once.
    public var smallestBlock = 8
    /// A snapshot is written after this many records. Each fleet that shares the topic writes one, so few would be many.
    public var snapshotRecords: Int64 = 10_000
    /// A snapshot is written after this time, if anything has changed.
    public var snapshotAge: Duration = .seconds(600)

    public init() {}

    /// The number of newest records among which a new member looks for a snapshot. A topic that holds fewer is read whole.
    public static let history: Int64 = 20_000

    /// A member that has reserved nothing for this long is not counted as one of those among which the rest is divided.
    var memory: Duration { ahead * 10 }
}
