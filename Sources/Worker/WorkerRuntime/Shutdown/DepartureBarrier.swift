internal import EventLoop

/// A barrier at which the lanes of a process wait for each other at their end: none leaves the group before all have
/// committed.
///
/// A member that leaves begins a rebalance, and while that lasts a coordinator may refuse what the others commit. It would
/// be done again by the next owner, and paid for again.
public actor DepartureBarrier {
    private var lanesToCome: Int
    private var lastArrival = Condition()

    /// - Parameter lanes: the number of lanes in the process, at least 1.
    public init(lanes: Int) { lanesToCome = lanes }

    /// Notes that one lane has committed what it can. Each lane says so once, one that has failed too.
    func arrive() {
        lanesToCome -= 1
        if lanesToCome <= 0 { lastArrival.broadcast() }
    }

    /// Returns once every lane has arrived.
    func waitForAll() async {
        guard lanesToCome > 0 else { return }
        await suspend(unless: lanesToCome <= 0) { lastArrival.add($0) }
    }
}
