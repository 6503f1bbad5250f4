internal import Basics

/// The events outside all loops, by due time. Among events that are due at the same instant, the one with the smallest rank is first.
///
/// The queue is a binary heap of plain numbers. The actions are stored separately, so that sorting moves no reference.
struct EventQueue {
    private struct Event {
        var due: Int64
        var rank: UInt64
        /// The index of its action in `actions`.
        var slot: Int

        func isBefore(_ other: Event) -> Bool { due < other.due || due == other.due && rank < other.rank }
    }

    /// The action of an event. A struct, because arrays and optionals of plain functions wrap each of them in another one, on
    /// insertion and again on removal.
    struct Action {
        let run: () -> Void
    }

    private var heap: [Event] = []
    /// The actions of events; `nil` in a free entry.
    private var actions: [Action?] = []
    private var freeSlots: [Int] = []

    /// The due time of the first event; `nil` if there is none.
    var firstDue: Instant? { heap.first.map { Instant(nanoseconds: $0.due) } }

    mutating func add(at due: Instant, rank: UInt64, _ action: Action) {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            actions[slot] = action
        } else {
            slot = actions.count
            actions.append(action)
        }

        let event = Event(due: due.nanoseconds, rank: rank, slot: slot)
        heap.append(event)
        var place = heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard event.isBefore(heap[parent]) else { break }
            heap[place] = heap[parent]
            place = parent
        }
        heap[place] = event
    }

    /// Removes the event that is due first, and returns its action.
    mutating func takeFirst() -> Action? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty { sink(last) }
        freeSlots.append(first.slot)
        return exchange(&actions[first.slot], with: nil)
    }

    /// Replaces the first event by another one, and moves it down to its position.
    private mutating func sink(_ event: Event) {
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(event) else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = event
    }
}
