/// The times and sizes by which members reserve calls of a daily budget. Members may go by different ones: what a
/// reservation gives follows from the log alone.
public struct BudgetTerms: Sendable, Hashable {
    /// The time for whose calls a member reserves ahead, at its recent pace. What a crash strands is at most that.
    public var ahead: Duration = .seconds(1)
    /// How long calls that were made may wait to be told to the others, who only show them.
    public var report: Duration = .seconds(1)
    /// The shortest time between two messages of one member.
    public var shortestPause: Duration = .milliseconds(20)
    /// How long a member waits for its own message to come back before it takes it for lost and asks again. Doubles with
    /// each message in vain.
    public var timeout: Duration = .seconds(3)
    /// The longest such wait.
    public var longestTimeout: Duration = .seconds(10)
    /// How often a member should look at its clocks, at least.
    public var tick: Duration = .milliseconds(200)
    /// A member that has made no call for so long gives back what it holds, once little is left.
    public var idle: Duration = .seconds(3)
    /// Up to so many members speak about once in `report`. In a larger fleet each speaks less often, and reserves for longer.
    public var talkers = 50
    /// The part of what is left that all members together reserve ahead at the most: one in so many.
    public var reserve = 16
    /// A member that is far from the budget's end reserves at least so many calls at once.
    public var smallestBlock = 8
    /// The state is written again when so many records have come since the last time.
    public var baseRecords: Int64 = 5000
    /// The state is written again after so long, if anything has changed.
    public var baseAge: Duration = .seconds(600)

    public init() {}

    /// The number of newest records among which a new member finds the state. A topic that holds fewer is read whole.
    public static let history: Int64 = 20_000

    /// A member that has reserved nothing for so long does not count among those that share what is left.
    var memory: Duration { ahead * 10 }
}
