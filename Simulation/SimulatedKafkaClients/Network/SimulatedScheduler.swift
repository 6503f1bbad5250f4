/// Virtual time for the clients. The simulated loop provides one; `VirtualScheduler` is independent of it.
package protocol SimulatedScheduler: AnyObject {
    /// Nanoseconds of virtual time.
    var now: Int64 { get }
    /// Runs an action later. The scheduler chooses the order of actions that are due at the same time.
    /// - Parameter time: Not before `now`.
    func schedule(at time: Int64, _ action: @escaping () -> Void)
}

extension SimulatedScheduler {
    package func schedule(after delay: Int64, _ action: @escaping () -> Void) { schedule(at: now + delay, action) }
}

/// A scheduler that runs actions in the order of their times, and at the same time in the order of the calls.
package final class VirtualScheduler: SimulatedScheduler {
    package private(set) var now: Int64
    private var actions: [(time: Int64, number: Int, body: () -> Void)] = []
    private var count = 0

    package init(now: Int64 = 0) { self.now = now }

    package func schedule(at time: Int64, _ action: @escaping () -> Void) {
        count += 1
        // In descending order, so that the next action is the last one.
        let entry = (time: max(time, now), number: count, body: action)
        var (low, high) = (0, actions.count)
        while low < high {
            let middle = (low + high) / 2
            let isLater = (actions[middle].time, actions[middle].number) > (entry.time, entry.number)
            if isLater { low = middle + 1 } else { high = middle }
        }
        actions.insert(entry, at: low)
    }

    /// Runs all actions that are due until `time`.
    package func run(until time: Int64) {
        while let next = actions.last, next.time <= time {
            actions.removeLast()
            now = max(now, next.time)
            next.body()
        }
        now = max(now, time)
    }

    /// Runs until a condition holds.
    /// - Returns: `false` if it did not hold by `time`.
    package func run(until time: Int64, _ condition: () -> Bool) -> Bool {
        while !condition() {
            guard let next = actions.last, next.time <= time else {
                now = max(now, time)
                return condition()
            }
            actions.removeLast()
            now = max(now, next.time)
            next.body()
        }
        return true
    }
}
