/// The part of the log that a new member reads before it knows the state: the records up to the end that the log had when
/// the member began.
struct BudgetHistory {
    /// The offset of the first record that was read.
    private var first: Int64
    private var hasBegun = false
    /// One past the last record of the history.
    let end: Int64
    /// The offset of the oldest record that the log has.
    private let oldest: Int64
    /// The offset of the record whose snapshot `state` goes on from; `nil` while none was read.
    private(set) var snapshotOffset: Int64?
    private var state = BudgetLedger()
    /// The state in the snapshot that `state` goes on from, without the records behind it.
    private(set) var basis = BudgetLedger()
    /// The records that were read, for as long as a snapshot may take the place of the one before.
    private var records: [(offset: Int64, message: BudgetMessage)] = []

    /// - Parameter extent: of the topic when its reading began; by default one without a record.
    init(of extent: FleetTopicExtent = FleetTopicExtent(first: 0, end: 0, oldest: 0)) {
        first = extent.first
        end = extent.end
        oldest = extent.oldest
    }

    /// Notes a record that was read, with or without a message. The first may be later than was announced.
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

    /// In a topic that was made anew, a member that had read more of the former one corrects the first snapshot. Snapshots are compared
    /// for so many records behind the first one.
    private static let recordsWithCorrections: Int64 = 1000

    /// True when all records that follow a snapshot are here.
    private func isUsable(_ snapshot: BudgetMessage.Snapshot, at offset: Int64) -> Bool {
        snapshot.offset >= first - 1 && snapshot.offset < offset
    }

    /// True while a later snapshot may correct the first one.
    func takesCorrections(at offset: Int64) -> Bool {
        snapshotOffset.map { offset < $0 + Self.recordsWithCorrections } ?? true
    }

    /// True when an older record must be read first: these hold no snapshot, and they are not all there is.
    var isTooShort: Bool { snapshotOffset == nil && first > oldest }

    /// The state after these records. Where none of them holds a snapshot, it begins with nothing taken.
    var ledger: BudgetLedger {
        if snapshotOffset != nil { return state }
        return records.reduce(into: BudgetLedger()) { $0.apply($1.message, at: $1.offset) }
    }
}
