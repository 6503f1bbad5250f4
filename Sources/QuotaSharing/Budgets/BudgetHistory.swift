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
    /// The records that were read before the first snapshot of use.
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
        guard snapshotOffset == nil else {
            state.apply(message, at: offset)
            return
        }
        records.append((offset, message))

        // A snapshot is of use only with all records that follow it.
        guard let snapshot = message.snapshot, snapshot.offset >= first - 1, snapshot.offset < offset else { return }
        snapshotOffset = offset
        state = snapshot.ledger
        for record in records where record.offset > snapshot.offset { state.apply(record.message, at: record.offset) }
        records = []
    }

    /// True when an older record must be read first: these hold no snapshot, and they are not all there is.
    var isTooShort: Bool { snapshotOffset == nil && first > oldest }

    /// The state after these records. Where none of them holds a snapshot, it begins with nothing taken.
    var ledger: BudgetLedger {
        if snapshotOffset != nil { return state }
        return records.reduce(into: BudgetLedger()) { $0.apply($1.message, at: $1.offset) }
    }
}
