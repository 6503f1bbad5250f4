/// The times and sizes by which members reserve units of a budget. Members may use different ones: the effect of
/// a reservation depends on the log alone.
enum BudgetTerms {
    /// A member reserves the units for this much time ahead, at its recent pace. A crash loses at most those.
    static let ahead = Duration.seconds(1)
    /// The longest time before used units are reported to the other members, which only display them.
    static let report = Duration.seconds(1)
    /// The shortest time between two messages of one member.
    static let shortestPause = Duration.milliseconds(20)
    /// The time after which a member treats its own message as lost, and repeats the request. Each further lost message
    /// doubles it.
    static let timeout = Duration.seconds(3)
    /// The upper bound of the doubled `timeout`.
    static let longestTimeout = Duration.seconds(10)
    /// The longest time between two ticks of a member.
    static let tick = Duration.milliseconds(200)
    /// A member that has made no call for this long returns its reservation, once little is left.
    static let idle = Duration.seconds(3)
    /// After the topic was created again, a member requests nothing for this long. Another member may have read more
    /// of the former topic.
    static let settling = Duration.seconds(3)
    /// The largest fleet whose members publish about once per `report`. In a larger one, each member publishes less
    /// often and reserves for longer: see `BudgetLog.slowness`.
    static let membersAtFullPace = 50
    /// All members together reserve at most one part in this many of what is left: with 16, a sixteenth.
    static let reservedPart = 16
    /// While many calls are left, a member reserves at least the units of this many calls at once.
    static let smallestBlock = 8
    /// A member that has reserved no calls for this long is not counted among those that divide the remaining calls.
    static let memory = ahead * 10
}
