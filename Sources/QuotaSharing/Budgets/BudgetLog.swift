internal import Basics

/// One member's reading of the fleet topic as a log of budget messages: the state that follows from its records, and where
/// that state stands in the topic.
///
/// A new member knows nothing before it has read the history, which must hold a state or go back to the oldest record.
struct BudgetLog {
    /// The progress of the reading.
    private enum Reading {
        case notBegun
        /// Reads the records that were there at the beginning; nothing is known before their end.
        case history
        /// The history that was read holds no state, and there is an older one.
        case tooShort
        case live
    }

    /// The consequence of one record.
    struct Applied {
        /// `nil` for a message that was there before.
        var effect: BudgetLedger.Effect?
        /// True when the ledger was replaced by one that other members had written down.
        var isStateTakenOver: Bool
    }

    private let terms: BudgetTerms
    /// Between 0 and 1, by the member's name: spreads the members, so that one writes the state before the others would.
    private let spread: Double
    private var reading = Reading.notBegun
    /// The state after all records that were read.
    private(set) var ledger = BudgetLedger()
    /// The state before the log was begun anew, until it is read again.
    private var ledgerBefore: BudgetLedger?
    private var history = BudgetHistory(first: 0, end: 0, oldest: 0)
    /// The offset of the last record that was read.
    private var lastOffset: Int64 = -1
    /// The last state in the topic.
    private var lastBase: (offset: Int64, time: Instant)
    private var hasChangedSinceBase = false
    /// True while the state stands nowhere in the topic, because that was made anew.
    private var isBaseLost = false
    /// The records of a topic in which no state stands yet: the first state that comes is taken over. `nil` once one stands
    /// there.
    private var stateless: BudgetHistory?

    /// - Parameter name: the member's.
    init(of name: String, terms: BudgetTerms, at now: Instant) {
        self.terms = terms
        lastBase = (-1, now)
        spread = Double(name.utf8.reduce(5381) { ($0 &* 33) ^ UInt32(truncatingIfNeeded: $1) } % 1000) / 1000
    }

    /// True once the history is read.
    var isReady: Bool {
        if case .live = reading { true } else { false }
    }

    /// True when the log must be begun anew, with an older record.
    var needsOlderRecords: Bool {
        if case .tooShort = reading { true } else { false }
    }

    // MARK: - Reading

    /// Begins to read the log, or begins anew: see `BudgetMember.begin`.
    mutating func begin(first: Int64, end: Int64, oldest: Int64, isRemade: Bool, at now: Instant) {
        lastOffset = first.saturatingSubtracting(1)
        if isReady { ledgerBefore = ledger }

        // The new topic knows nothing of the day so far. Members that know it go on from there, and write it down.
        if isRemade, let known = ledgerBefore {
            (ledger, ledgerBefore, reading) = (known, nil, .live)
            lastBase = (lastOffset, now)
            (hasChangedSinceBase, isBaseLost) = (true, true)
            stateless = BudgetHistory(first: first, end: end, oldest: oldest)
            return
        }

        history = BudgetHistory(first: first, end: end, oldest: oldest)
        ledger = BudgetLedger()
        lastBase = (lastOffset, now)
        reading = .history
        endHistory(at: now)
    }

    /// Takes in a record that is about budgets.
    /// - Returns: `nil` for a record of the history, and for one that was read before.
    mutating func read(_ message: BudgetMessage, at offset: Int64, now: Instant) -> Applied? {
        guard offset > lastOffset else { return nil }
        lastOffset = offset

        switch reading {
        case .notBegun, .tooShort: return nil
        case .history:
            history.note(offset)
            history.add(message, at: offset)
            endHistory(at: now)
            return nil
        case .live: return apply(message, at: offset, now: now)
        }
    }

    /// Takes in a record that is about something else.
    mutating func skip(_ offset: Int64, now: Instant) {
        guard offset > lastOffset else { return }
        lastOffset = offset
        guard case .history = reading else { return }

        history.note(offset)
        endHistory(at: now)
    }

    private mutating func endHistory(at now: Instant) {
        guard lastOffset + 1 >= history.end else { return }
        guard !history.isTooShort else { return reading = .tooShort }

        ledger = history.ledger
        ledgerBefore = nil
        reading = .live
        stateless = history.baseOffset == nil ? history : nil
        if let offset = history.baseOffset { lastBase = (offset, now) }
        hasChangedSinceBase = true
        history = BudgetHistory(first: 0, end: 0, oldest: 0)
    }

    private mutating func apply(_ message: BudgetMessage, at offset: Int64, now: Instant) -> Applied? {
        if message.base != nil {
            lastBase = (offset, now)
            (hasChangedSinceBase, isBaseLost) = (false, false)
        }
        if !message.entries.isEmpty || message.order != nil { hasChangedSinceBase = true }
        if isPutBack(.orderIgnored), message.order != nil, spread < 0.5 { return nil }

        let effect = ledger.apply(message, at: offset)
        return Applied(effect: effect, isStateTakenOver: takeOverState(from: message, at: offset))
    }

    /// Takes over the first state that is written to a topic that held none.
    ///
    /// In a topic that was read from its beginning that changes nothing. In one that was made anew, a member that began
    /// before the others had written the day's count down has counted from zero.
    /// - Returns: true when the state is another one than before.
    private mutating func takeOverState(from message: BudgetMessage, at offset: Int64) -> Bool {
        guard stateless != nil else { return false }
        stateless?.note(offset)
        stateless?.add(message, at: offset)
        guard let known = stateless, known.baseOffset != nil else { return false }

        stateless = nil
        guard known.ledger != ledger else { return false }
        ledger = known.ledger
        return true
    }

    // MARK: - Writing the state

    /// The state as it may be written now.
    var base: BudgetMessage.Base { BudgetMessage.Base(offset: lastOffset, ledger: ledger) }

    /// Returns true when this member should write the state. Each member waits a little longer than the one before, so that one
    /// of them does.
    func isBaseDue(at now: Instant) -> Bool {
        let (records, time) = (lastOffset.saturatingSubtracting(lastBase.offset), lastBase.time.duration(to: now))
        return isBaseLost || Double(records) >= Double(terms.baseRecords) * (1 + spread / 4)
            || hasChangedSinceBase && time >= terms.baseAge * (1 + spread / 4)
    }
}
