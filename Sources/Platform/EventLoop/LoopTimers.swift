internal import Basics
internal import HeapModule

/// Identifies one timer of one loop.
public struct TimerID: Hashable, Sendable {
    let serial: UInt64
}

/// The timers of one loop, earliest first. A cancelled timer stays in the heap without its action, until it is the
/// first or most timers in the heap are cancelled.
struct LoopTimers {
    private struct Entry: Comparable {
        let due: Instant
        let serial: UInt64

        static func < (a: Entry, b: Entry) -> Bool { (a.due, a.serial) < (b.due, b.serial) }
    }
    private var heap = Heap<Entry>()
    private var actions: [UInt64: () -> Void] = [:]
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
        heap.insert(Entry(due: due, serial: serial))
        actions[serial] = action
        return TimerID(serial: serial)
    }

    mutating func cancel(_ timer: TimerID) {
        guard actions.removeValue(forKey: timer.serial) != nil else { return }
        if heap.count > 2 * actions.count + Self.fewTimers { removeCancelled() }
        while let first = heap.min, actions[first.serial] == nil { heap.removeMin() }
    }

    /// Costs as much as one cancellation for each timer that it removes.
    private mutating func removeCancelled() {
        heap = Heap(heap.unordered.filter { actions[$0.serial] != nil })
    }

    var nextDue: Instant? { heap.min?.due }

    /// Removes and returns one due action; `nil` if there is none.
    mutating func popDue(at now: Instant) -> (() -> Void)? {
        while let first = heap.min, first.due <= now {
            heap.removeMin()
            if let action = actions.removeValue(forKey: first.serial) { return action }
        }
        return nil
    }
}
