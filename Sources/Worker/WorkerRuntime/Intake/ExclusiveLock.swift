internal import Synchronization

/// A lock with which one lane runs a record while nothing else is in flight in the process. If the process then
/// crashes, that record is the cause. The other lanes begin nothing until the lock is released.
///
/// Shared by the lanes of a process. Thread-safe.
package final class ExclusiveLock: Sendable {
    /// Returns whether nothing is in flight on a lane.
    typealias IsQuiet = @Sendable () async -> Bool

    private let lanes = Mutex<[IsQuiet]>([])
    /// The lane that holds the lock; -1 if none does.
    private let owner = Atomic<Int>(-1)

    package init() {}

    /// Adds a lane.
    /// - Returns: its number among the lanes that share the lock.
    func add(_ isQuiet: @escaping IsQuiet) -> Int {
        lanes.withLock { lanes in
            lanes.append(isQuiet)
            return lanes.count - 1
        }
    }

    /// True while a lane holds the lock.
    var isTaken: Bool { owner.load(ordering: .sequentiallyConsistent) >= 0 }

    /// True while another lane holds the lock, so that nothing may begin.
    func isTaken(besides lane: Int) -> Bool {
        let owner = owner.load(ordering: .sequentiallyConsistent)
        return owner >= 0 && owner != lane
    }

    /// Acquires the lock without waiting.
    /// - Returns: `false` if another lane holds it.
    func take(for lane: Int) -> Bool {
        owner.compareExchange(expected: -1, desired: lane, ordering: .sequentiallyConsistent).exchanged
    }

    /// Releases the lock if the lane holds it.
    func end(of lane: Int) { _ = owner.compareExchange(expected: lane, desired: -1, ordering: .sequentiallyConsistent) }

    /// Returns whether nothing is in flight on the other lanes.
    func isQuiet(besides lane: Int) async -> Bool {
        for (number, isQuiet) in lanes.withLock({ $0 }).enumerated() where number != lane {
            guard await isQuiet() else { return false }
        }
        return true
    }
}
