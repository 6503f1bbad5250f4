internal import EventLoop

/// A barrier for the shutdown of a process: no lane leaves the group before all lanes have committed.
///
/// A member that leaves starts a rebalance, during which a coordinator may refuse the commits of others. The next owner
/// would then repeat, and pay for, that work.
package actor DepartureBarrier {
    private var lanesToCome: Int
    private var lastArrival = Condition()

    /// - Parameter lanes: the number of lanes in the process, at least 1.
    package init(lanes: Int) { lanesToCome = lanes }

    /// Records that a lane has committed what it can. Every lane calls it once, including a failed one.
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
