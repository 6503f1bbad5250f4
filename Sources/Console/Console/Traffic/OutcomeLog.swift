internal import DequeModule

/// The newest outcomes, bounded by their number and their bytes. Each has an id that is higher than that of all before it.
struct OutcomeLog {
    /// The number of outcomes that are kept at most.
    private let mostEntries: Int
    /// The bytes that they may take up together.
    private let mostBytes: Int
    private let firstID: Int

    private var entries: Deque<LoggedOutcome> = []
    private var byteCount = 0
    private var nextID: Int

    /// - Parameter firstID: the id of the first outcome. A console that starts anew goes on above the ids of its last run when
    ///   it begins with the time in microseconds, so that a page which was away can say where it left off.
    init(firstID: Int, mostEntries: Int = 5000, mostBytes: Int = 32 << 20) {
        self.firstID = firstID
        nextID = firstID
        self.mostEntries = mostEntries
        self.mostBytes = mostBytes
    }

    /// Keeps an outcome, and forgets the oldest where there are too many.
    mutating func append(_ record: OutcomeRecord) {
        let id = nextID
        nextID += 1
        entries.append(LoggedOutcome(id: id, record: record, row: TrafficJSON.row(of: record, id: id)))
        byteCount += record.byteCount

        while entries.count > mostEntries || (byteCount > mostBytes && entries.count > 1) {
            byteCount -= entries.removeFirst().record.byteCount
        }
    }

    /// Returns the outcome with an id; `nil` when it was forgotten or never was.
    subscript(id: Int) -> OutcomeRecord? {
        guard let first = entries.first?.id, id >= first, id - first < entries.count else { return nil }
        return entries[id - first].record
    }

    /// The id of the newest outcome; one below the first id before there is any.
    var newestID: Int { nextID - 1 }

    /// Returns the id that a page which has seen nothing begins behind, so that it gets the newest outcomes only.
    func placeOfNewPage(showing count: Int) -> Int { max(newestID - count, firstID - 1) }

    /// Returns the oldest entries behind `id`, at most `limit`.
    /// - Parameter id: the last id that the reader has seen, as it says: any number. One of an earlier run lies below all
    ///   ids of this one, and what it has missed is not known.
    func entries(after id: Int, limit: Int) -> OutcomeBatch {
        guard let first = entries.first?.id else { return OutcomeBatch(entries: [], missed: 0) }

        // All ids that a reader can have seen lie between these two.
        let seen = min(max(id, firstID - 2), newestID)
        let index = min(max(seen + 1 - first, 0), entries.count)
        let missed = seen >= firstID - 1 ? max(first - 1 - seen, 0) : 0
        return OutcomeBatch(entries: Array(entries[index...].prefix(limit)), missed: missed)
    }
}
