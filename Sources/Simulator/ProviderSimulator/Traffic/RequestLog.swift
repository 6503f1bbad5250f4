internal import NIOCore

/// The most recent requests, up to a fixed number.
struct RequestLog {
    struct Entry {
        let number: Int
        /// The wall-clock time in seconds since 1970.
        let second: Int
        /// The time on a monotonic clock.
        let nanoseconds: UInt64
        let endpoint: Endpoint
        /// The URI including the key, which `ControlPlane` omits.
        let uri: String
        let body: String
        /// The outcome; `nil` while the request is in flight.
        var outcome: String?
    }

    /// The entries, oldest first, with consecutive numbers.
    private var entries = CircularBuffer<Entry>()
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Adds a request. Its number must be one more than the previous one's.
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
