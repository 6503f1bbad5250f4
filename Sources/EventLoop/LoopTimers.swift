internal import Basics
internal import HeapModule

/// Names one timer of one loop.
public struct TimerID: Hashable, Sendable {
    let serial: UInt64
}

/// The timers of one loop, earliest first. A cancelled timer stays in the heap without its action until it comes first.
struct LoopTimers {
    private struct Entry: Comparable {
        let due: Instant
        let serial: UInt64

        static func < (a: Entry, b: Entry) -> Bool { (a.due, a.serial) < (b.due, b.serial) }
    }
    private var heap = Heap<Entry>()
    private var actions: [UInt64: () -> Void] = [:]
    private var nextSerial: UInt64 = 0

    /// - Parameter rank: orders timers that are due at the same instant. Those of equal rank run as they were added.
    mutating func add(at due: Instant, rank: UInt16, action: @escaping () -> Void) -> TimerID {
        nextSerial += 1
        let serial = nextSerial | UInt64(rank) << 48
        heap.insert(Entry(due: due, serial: serial))
        actions[serial] = action
        return TimerID(serial: serial)
    }

    mutating func cancel(_ timer: TimerID) {
        actions[timer.serial] = nil
        while let first = heap.min, actions[first.serial] == nil { heap.removeMin() }
    }

    var nextDue: Instant? { heap.min?.due }

    /// Takes out one action whose time has come; `nil` when there is none.
    mutating func popDue(at now: Instant) -> (() -> Void)? {
        while let first = heap.min, first.due <= now {
            heap.removeMin()
            if let action = actions.removeValue(forKey: first.serial) { return action }
        }
        return nil
    }
}
