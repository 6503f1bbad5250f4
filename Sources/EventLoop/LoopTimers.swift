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

    mutating func add(at due: Instant, action: @escaping () -> Void) -> TimerID {
        nextSerial += 1
        heap.insert(Entry(due: due, serial: nextSerial))
        actions[nextSerial] = action
        return TimerID(serial: nextSerial)
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
