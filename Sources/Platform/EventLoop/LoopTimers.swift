internal import Basics
internal import HeapModule

/// Identifies one timer of one loop.
public struct TimerID: Hashable, Sendable {
    let serial: UInt64
    let index: Int
}

/// The timers of one loop, earliest first. A cancelled timer stays in the heap without its action, until it is the
/// first or most timers in the heap are cancelled.
struct LoopTimers {
    private struct Entry: Comparable {
        let due: Instant
        let timer: TimerID

        static func < (a: Entry, b: Entry) -> Bool { (a.due, a.timer.serial) < (b.due, b.timer.serial) }
    }
    private struct ActionEntry {
        /// The serial of the timer that uses the entry; 0 if it is free.
        var serial: UInt64 = 0
        var action: (() -> Void)?
    }

    private var heap = Heap<Entry>()
    /// The actions of the timers, by their index. A timer that has ended leaves its entry to a later timer.
    private var actions: [ActionEntry] = []
    private var freeIndices: [Int] = []
    private var nextSerial: UInt64 = 0

    /// The number of cancelled timers that may always stay in the heap.
    private static let fewTimers = 64

    /// The number of timers in the heap, including cancelled ones.
    var heapCount: Int { heap.count }

    /// - Parameter rank: Orders timers that are due at the same instant. Timers of equal rank run in the order in which
    ///   they were added.
    mutating func add(at due: Instant, rank: UInt16, action: @escaping () -> Void) -> TimerID {
        nextSerial += 1
        let serial = nextSerial | UInt64(rank) << 48
        let timer = TimerID(serial: serial, index: freeIndices.popLast() ?? actions.count)
        if timer.index == actions.count { actions.append(ActionEntry()) }
        actions[timer.index] = ActionEntry(serial: serial, action: action)
        heap.insert(Entry(due: due, timer: timer))
        return timer
    }

    mutating func cancel(_ timer: TimerID) {
        guard takeAction(of: timer) != nil else { return }
        if heap.count > 2 * (actions.count - freeIndices.count) + Self.fewTimers { removeCancelled() }
        while let first = heap.min, !isActive(first.timer) { heap.removeMin() }
    }

    private func isActive(_ timer: TimerID) -> Bool { actions[timer.index].serial == timer.serial }

    /// Ends a timer; `nil` if it has ended already.
    private mutating func takeAction(of timer: TimerID) -> (() -> Void)? {
        guard isActive(timer) else { return nil }
        defer {
            actions[timer.index] = ActionEntry()
            freeIndices.append(timer.index)
        }
        return actions[timer.index].action
    }

    /// Costs as much as one cancellation for each timer that it removes.
    private mutating func removeCancelled() {
        heap = Heap(heap.unordered.filter { isActive($0.timer) })
    }

    var nextDue: Instant? { heap.min?.due }

    /// Removes and returns one due action; `nil` if there is none.
    mutating func popDue(at now: Instant) -> (() -> Void)? {
        while let first = heap.min, first.due <= now {
            heap.removeMin()
            if let action = takeAction(of: first.timer) { return action }
        }
        return nil
    }
}
