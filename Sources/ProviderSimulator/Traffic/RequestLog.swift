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
    private var entries: [Entry] = []
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    mutating func add(_ entry: Entry) {
        guard capacity > 0 else { return }
        if entries.count < capacity { entries.append(entry) } else { entries[entry.number % capacity] = entry }
    }

    mutating func finish(_ number: Int, _ outcome: String) {
        guard capacity > 0 else { return }
        let index = number % capacity
        if index < entries.count, entries[index].number == number { entries[index].outcome = outcome }
    }

    /// The last `count`, oldest first.
    func last(_ count: Int) -> [Entry] { entries.sorted { $0.number < $1.number }.suffix(max(count, 0)) }

    mutating func reset() { entries.removeAll() }
}
