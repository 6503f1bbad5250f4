/// Where the lanes of a process wait for each other at their end: none leaves the group before all have committed. A member
/// that leaves begins a rebalance, and while that lasts a coordinator may refuse what the others commit: it would be done
/// again by whoever is next, and paid for again.
public actor Departure {
    private var missing: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameter lanes: all of the process.
    public init(lanes: Int) { missing = lanes }

    /// One lane has committed what it can. Each says so once, one that has failed too.
    func committed() {
        missing -= 1
        guard missing <= 0 else { return }
        for waiter in waiters { waiter.resume() }
        waiters.removeAll()
    }

    /// Until all have said so.
    func all() async {
        guard missing > 0 else { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}
