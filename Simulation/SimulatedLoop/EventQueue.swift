internal import Basics

/// What happens outside all loops, by the time at which it is due. Of events that are due at the same instant, the one of the
/// smallest rank comes first.
///
/// A binary heap of plain numbers. The actions lie beside it, so that sorting moves no reference.
struct EventQueue {
    private struct Event {
        var due: Int64
        var rank: UInt64
        /// Where its action is in `actions`.
        var slot: Int

        func isBefore(_ other: Event) -> Bool { due < other.due || due == other.due && rank < other.rank }
    }

    /// What happens. A type of its own, because arrays and optionals of plain functions wrap each of them in another one, when it
    /// is put in and again when it is taken out.
    struct Action {
        let run: () -> Void
    }

    private var heap: [Event] = []
    /// The actions of events; `nil` in an entry that is free.
    private var actions: [Action?] = []
    private var freeSlots: [Int] = []

    /// When the first event is due; `nil` where there is none.
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

    /// Takes out the event that is due first, and returns its action.
    mutating func takeFirst() -> Action? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty { sink(last) }
        freeSlots.append(first.slot)
        return exchange(&actions[first.slot], with: nil)
    }

    /// Puts an event in the place of the first one, and moves it down to where it belongs.
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
