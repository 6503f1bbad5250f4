/// The records that a new member reads before it knows the state: those up to the end of the log when the member began.
struct BudgetHistory {
    /// The offset of the first record that was read.
    private var first: Int64
    private var hasBegun = false
    /// The offset after the last record of the history.
    let end: Int64
    /// The offset of the oldest record in the log.
    private let oldest: Int64
    /// The offset of the first usable snapshot; `nil` until one has been read.
    private(set) var snapshotOffset: Int64?
    private var state = BudgetLedger()
    /// The state in the snapshot on which `state` is based, without later records.
    private(set) var basis = BudgetLedger()
    /// The records that were read, kept while a later snapshot may replace the first.
    private var records: [(offset: Int64, message: BudgetMessage)] = []

    /// - Parameter extent: the extent of the topic when reading began; by default an empty topic.
    init(of extent: FleetTopicExtent = FleetTopicExtent(first: 0, end: 0, oldest: 0)) {
        first = extent.first
        end = extent.end
        oldest = extent.oldest
    }

    /// Counts a record that was read, with or without a message. The first one may come later than the announced
    /// offset.
    mutating func note(_ offset: Int64) {
        if !hasBegun { first = max(first, offset) }
        hasBegun = true
    }

    mutating func add(_ message: BudgetMessage, at offset: Int64) {
        guard let snapshotOffset else { return addBeforeSnapshot(message, at: offset) }
        state.apply(message, at: offset)
        guard offset < snapshotOffset + Self.recordsWithCorrections else { return records = [] }

        records.append((offset, message))
        guard let snapshot = message.snapshot, isUsable(snapshot, at: offset) else { return }
        if snapshot.ledger.isAhead(of: basis) { begin(with: snapshot) }
    }

    private mutating func addBeforeSnapshot(_ message: BudgetMessage, at offset: Int64) {
        records.append((offset, message))
        guard let snapshot = message.snapshot, isUsable(snapshot, at: offset) else { return }
        snapshotOffset = offset
        begin(with: snapshot)
    }

    private mutating func begin(with snapshot: BudgetMessage.Snapshot) {
        basis = snapshot.ledger
        state = records.reduce(into: snapshot.ledger) { ledger, record in
            if record.offset > snapshot.offset { ledger.apply(record.message, at: record.offset) }
        }
    }

    /// The number of records after the first snapshot in which later snapshots are compared with it. In a topic that
    /// was created again, a member that had read more of the former topic corrects the first snapshot.
    private static let recordsWithCorrections: Int64 = 1000

    /// True if all records that follow the snapshot have been read.
    private func isUsable(_ snapshot: BudgetMessage.Snapshot, at offset: Int64) -> Bool {
        snapshot.offset >= first - 1 && snapshot.offset < offset
    }

    /// True while a later snapshot may correct the first one.
    func takesCorrections(at offset: Int64) -> Bool {
        snapshotOffset.map { offset < $0 + Self.recordsWithCorrections } ?? true
    }

    /// True if older records must be read: these contain no snapshot, and are not all that exist.
    var isTooShort: Bool { snapshotOffset == nil && first > oldest }

    /// The state after these records. Without a snapshot among them, it starts with no calls taken.
    var ledger: BudgetLedger {
        if snapshotOffset != nil { return state }
        return records.reduce(into: BudgetLedger()) { $0.apply($1.message, at: $1.offset) }
    }
}
