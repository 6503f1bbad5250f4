internal import NIOCore

/// Limits the number of requests served at the same time. Further requests wait in order of arrival.
struct Gate {
    typealias Waiter = @Sendable () -> Void

    /// The limit; `nil`: none. After a change, call the waiters that `admitted()` returns.
    var capacity: Int?
    /// The number of requests being served.
    private(set) var active = 0
    private var waiters = CircularBuffer<Waiter>()

    var waiting: Int { waiters.count }

    /// Takes a permit, or a position in the queue. The queue is limited by the number of connections.
    /// - Returns: `true` if the request has a permit. Otherwise the waiter is called when it has one.
    mutating func enter(_ waiter: @escaping Waiter) -> Bool {
        guard active < capacity ?? .max else {
            waiters.append(waiter)
            return false
        }
        active += 1
        return true
    }

    /// Releases a permit.
    /// - Returns: the waiters that have a permit now. The caller must call them.
    mutating func leave() -> [Waiter] {
        active -= 1
        return admitted()
    }

    /// Removes the waiters that can get a permit from the queue. Each of them counts as active from now on.
    mutating func admitted() -> [Waiter] {
        var next: [Waiter] = []
        while let waiter = waiters.first, active < capacity ?? .max {
            waiters.removeFirst()
            active += 1
            next.append(waiter)
        }
        return next
    }
}
