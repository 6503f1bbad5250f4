internal import DequeModule

/// The newest outcomes, bounded by number and bytes. Ids are ascending.
struct OutcomeLog {
    /// The maximum number of outcomes kept.
    private let mostEntries: Int
    /// The maximum number of bytes kept.
    private let mostBytes: Int
    private let firstID: Int

    private var entries: Deque<LoggedOutcome> = []
    private var byteCount = 0
    private var nextID: Int

    /// - Parameter firstID: the id of the first outcome. If it is the present time in microseconds, a restarted console
    ///   continues above the ids of its last run. So a page that was disconnected can name its last position.
    init(firstID: Int, mostEntries: Int = 5000, mostBytes: Int = 32 << 20) {
        self.firstID = firstID
        nextID = firstID
        self.mostEntries = mostEntries
        self.mostBytes = mostBytes
    }

    /// Adds an outcome, and drops the oldest ones if there are too many.
    mutating func append(_ record: OutcomeRecord) {
        let id = nextID
        nextID += 1
        entries.append(LoggedOutcome(id: id, record: record, row: TrafficJSON.row(of: record, id: id)))
        byteCount += record.byteCount

        while entries.count > mostEntries || (byteCount > mostBytes && entries.count > 1) {
            byteCount -= entries.removeFirst().record.byteCount
        }
    }

    /// Returns the outcome with an id; `nil` if it was dropped or never existed.
    subscript(id: Int) -> OutcomeRecord? {
        guard let first = entries.first?.id, id >= first, id - first < entries.count else { return nil }
        return entries[id - first].record
    }

    /// The id of the newest outcome; before the first outcome, one less than the first id.
    var newestID: Int { nextID - 1 }

    /// Returns the id after which a new page begins, so that it gets only the newest outcomes.
    func placeOfNewPage(showing count: Int) -> Int { max(newestID - count, firstID - 1) }

    /// Returns the oldest entries after `id`, at most `limit`.
    /// - Parameter id: the last id that the reader has seen. It is untrusted and may be any number.
    func entries(after id: Int, limit: Int) -> [LoggedOutcome] {
        guard let first = entries.first?.id else { return [] }
        let seen = min(max(id, first - 1), newestID)
        return Array(entries[(seen + 1 - first)...].prefix(limit))
    }
}
