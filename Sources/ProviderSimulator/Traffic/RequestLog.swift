internal import NIOCore

/// The last requests, in a ring.
struct RequestLog {
    struct Entry {
        let number: Int
        /// Of the wall clock, since 1970.
        let second: Int
        /// Of a clock that never goes back.
        let nanoseconds: UInt64
        let endpoint: Endpoint
        /// With the key; `ControlPlane` leaves it out.
        let uri: String
        let body: String
        var outcome: String?
    }
    /// Oldest first, numbered without a gap.
    private var entries = CircularBuffer<Entry>()
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    mutating func add(_ entry: Entry) {
        guard capacity > 0 else { return }
        if entries.count == capacity { entries.removeFirst() }
        entries.append(entry)
    }

    mutating func finish(_ number: Int, _ outcome: String) {
        guard let first = entries.first, number >= first.number, number - first.number < entries.count else { return }
        entries[offset: number - first.number].outcome = outcome
    }

    /// The last `count`, oldest first.
    func last(_ count: Int) -> [Entry] { Array(entries.suffix(max(count, 0))) }

    mutating func reset() { entries.removeAll() }
}
