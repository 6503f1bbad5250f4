internal import NIOCore

/// The last requests, up to a fixed number.
struct RequestLog {
    struct Entry {
        let number: Int
        /// The second on the wall clock, since 1970.
        let second: Int
        /// The time on a clock that never goes back.
        let nanoseconds: UInt64
        let endpoint: Endpoint
        /// The URI with its key, which `ControlPlane` leaves out.
        let uri: String
        let body: String
        /// The outcome; `nil` while the request is in flight.
        var outcome: String?
    }

    /// The entries, oldest first, numbered without a gap.
    private var entries = CircularBuffer<Entry>()
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Adds a request, whose number must be one more than the last one's.
    mutating func add(_ entry: Entry) {
        guard capacity > 0 else { return }
        if entries.count == capacity { entries.removeFirst() }
        entries.append(entry)
    }

    mutating func finish(_ number: Int, outcome: String) {
        guard let first = entries.first, number >= first.number, number - first.number < entries.count else { return }
        entries[offset: number - first.number].outcome = outcome
    }

    /// Returns the last `count` requests, oldest first.
    func last(_ count: Int) -> [Entry] { Array(entries.suffix(max(count, 0))) }

    mutating func reset() { entries.removeAll() }
}
