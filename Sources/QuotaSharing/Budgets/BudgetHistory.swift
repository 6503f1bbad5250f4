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
    /// The offset of the record from which the state comes; `nil` while there is none.
    private(set) var baseOffset: Int64?
    private var state = BudgetLedger()
    /// The records that the state does not contain yet.
    private var records: [(offset: Int64, message: BudgetMessage)] = []

    init(first: Int64, end: Int64, oldest: Int64) {
        self.first = first
        self.end = end
        self.oldest = oldest
    }

    /// Notes a record that was read, with or without a message. The first may be later than was announced.
    mutating func note(_ offset: Int64) {
        if !hasBegun { first = max(first, offset) }
        hasBegun = true
    }

    mutating func add(_ message: BudgetMessage, at offset: Int64) {
        guard baseOffset == nil else {
            state.apply(message, at: offset)
            return
        }
        records.append((offset, message))

        // A state is of use only with all records that follow it.
        guard let base = message.base, base.offset >= first - 1, base.offset < offset else { return }
        baseOffset = offset
        state = base.ledger
        for record in records where record.offset > base.offset { state.apply(record.message, at: record.offset) }
        records = []
    }

    /// True when an older record must be read first: these hold no state, and they are not all there is.
    var isTooShort: Bool { baseOffset == nil && first > oldest }

    /// The state after these records. Where none of them holds a state, it begins with nothing taken.
    var ledger: BudgetLedger {
        if baseOffset != nil { return state }
        return records.reduce(into: BudgetLedger()) { $0.apply($1.message, at: $1.offset) }
    }
}
