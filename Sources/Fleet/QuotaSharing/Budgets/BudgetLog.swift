internal import Basics

/// One member's reading of the fleet topic as a log of budget messages: the state that follows from its records, and when the
/// next snapshot of that state is due.
///
/// A new member knows nothing before it has read the history, which must hold a snapshot or go back to the oldest record.
struct BudgetLog {
    /// The consequence of one record.
    struct Applied {
        /// `nil` for a message that was there before.
        var effect: BudgetLedger.Effect?
        /// True when the ledger was replaced by the snapshot of another member.
        var isSnapshotTakenOver: Bool
    }

    private let fleet: String?
    private let terms: BudgetTerms
    /// Between 0 and 1, by the member's name. The member with the least writes a snapshot before the others' are due.
    private let spread: Double
    private var reading = HistoryReading.notBegun
    /// The state after all records that were read.
    private(set) var ledger = BudgetLedger()
    /// The state before the log was begun anew, until it is read again.
    private var ledgerBefore: BudgetLedger?
    private var history = BudgetHistory()
    /// The offset of the last record that was read.
    private var lastOffset: Int64 = -1
    /// The newest snapshot in the topic.
    private var lastSnapshot: (offset: Int64, time: Instant)
    private var hasChangedSinceSnapshot = false
    /// True while the topic was made anew and holds no snapshot, or one that knows less than this member.
    private var isSnapshotLost = false
    /// All records of a topic that holds no snapshot yet, or whose first one may still be corrected; `nil` later.
    private var youngTopic: BudgetHistory?
    /// What this member knew of the topic that was deleted, as a snapshot that stands before all records of the new one; `nil` where
    /// it has read none, and once the new topic is no longer young.
    private var former: BudgetMessage.Snapshot?

    /// - Parameters:
    ///   - name: the member's.
    ///   - fleet: the member's, whose records alone count.
    init(of name: String, fleet: String?, terms: BudgetTerms, at now: Instant) {
        self.fleet = fleet
        self.terms = terms
        lastSnapshot = (-1, now)
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
    mutating func begin(_ extent: FleetTopicExtent, at now: Instant) {
        lastOffset = extent.first.saturatingSubtracting(1)
        if isReady { ledgerBefore = ledger }

        // The new topic knows nothing of the day so far. Members that know it go on from there, and write it down.
        if extent.isRemade, let known = ledgerBefore {
            (ledger, ledgerBefore, reading) = (known, nil, .live)
            lastSnapshot = (lastOffset, now)
            (hasChangedSinceSnapshot, isSnapshotLost) = (true, true)
            youngTopic = BudgetHistory(of: extent)
            former = BudgetMessage.Snapshot(offset: lastOffset, fleet: fleet, ledger: known)
            return
        }

        history = BudgetHistory(of: extent)
        ledger = BudgetLedger()
        lastSnapshot = (lastOffset, now)
        reading = .history
        endHistory(at: now)
    }

    /// Takes in a record that is about budgets.
    /// - Returns: `nil` for a record of the history, for one that was read before, and for one that is about other fleets.
    mutating func read(_ message: BudgetMessage, at offset: Int64, now: Instant) -> Applied? {
        guard let message = message.part(for: fleet) else {
            skip(offset, now: now)
            return nil
        }
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
        youngTopic?.note(offset)
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
        (youngTopic, former) = (history, nil)
        if let offset = history.snapshotOffset { lastSnapshot = (offset, now) }
        hasChangedSinceSnapshot = true
        history = BudgetHistory()
    }

    private mutating func apply(_ message: BudgetMessage, at offset: Int64, now: Instant) -> Applied? {
        if message.snapshot != nil {
            lastSnapshot = (offset, now)
            (hasChangedSinceSnapshot, isSnapshotLost) = (false, false)
        }
        if !message.entries.isEmpty || message.order != nil { hasChangedSinceSnapshot = true }
        if isPutBack(.orderIgnored), message.order != nil, spread < 0.5 { return nil }

        let effect = ledger.apply(message, at: offset)
        return Applied(effect: effect, isSnapshotTakenOver: takeOverSnapshot(from: message, at: offset))
    }

    /// Takes over the first snapshot that is written to a topic that held none, and one that corrects it.
    ///
    /// In a topic that was read from its beginning that changes nothing. In one that was made anew, a member that began
    /// before another had written a snapshot has counted from zero, and one that was behind in the former topic lacks its last
    /// records. A member that knows more than the snapshot goes on from its own state, and writes that down.
    /// - Returns: true when the state is another one than before.
    private mutating func takeOverSnapshot(from message: BudgetMessage, at offset: Int64) -> Bool {
        guard youngTopic?.takesCorrections(at: offset) == true else {
            (youngTopic, former) = (nil, nil)
            return false
        }
        youngTopic?.note(offset)
        youngTopic?.add(message, at: offset)
        guard message.snapshot != nil, let known = youngTopic, known.snapshotOffset != nil else { return false }

        if let former, former.ledger.isAhead(of: known.basis) {
            isSnapshotLost = true
            return false
        }
        guard known.ledger != ledger else { return false }
        ledger = known.ledger
        return true
    }

    // MARK: - Snapshots

    /// The snapshot that may be written now. In a topic that was made anew it is of the former one alone, so that those of several
    /// members can be compared.
    var snapshot: BudgetMessage.Snapshot {
        if isSnapshotLost, let former { return former }
        return BudgetMessage.Snapshot(offset: lastOffset, fleet: fleet, ledger: ledger)
    }

    /// Returns true when this member should write a snapshot. Each member waits a little longer than the one before, so that one
    /// of them does.
    func isSnapshotDue(at now: Instant) -> Bool {
        let (records, time) = (
            lastOffset.saturatingSubtracting(lastSnapshot.offset), lastSnapshot.time.duration(to: now)
        )
        return isSnapshotLost || Double(records) >= Double(terms.snapshotRecords) * (1 + spread / 4)
            || hasChangedSinceSnapshot && time >= terms.snapshotAge * (1 + spread / 4)
    }
}
