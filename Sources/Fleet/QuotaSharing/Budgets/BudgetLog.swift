internal import Basics

/// One member's view of the fleet topic as a log of budget messages: the state after its records, and when the next
/// snapshot is due.
///
/// A new member does not know the state before it has read the history, which must contain a snapshot or start at the
/// oldest record.
struct BudgetLog {
    /// The effect of one record.
    struct Applied {
        /// `nil` for a message that was applied before.
        var effect: BudgetLedger.Effect?
        /// True if another member's snapshot replaced the ledger.
        var isSnapshotTakenOver: Bool
    }

    private let fleet: String?
    private let terms: BudgetTerms
    /// A number from 0 to 1, by the member's name. The member with the least writes a snapshot before the others' are
    /// due.
    private let spread: Double
    private var reading = HistoryReading.notBegun
    /// The state after all records that were read.
    private(set) var ledger = BudgetLedger()
    /// The previous state while the log is read again.
    private var ledgerBefore: BudgetLedger?
    private var history = BudgetHistory()
    /// The offset of the last record that was read.
    private var lastOffset: Int64 = -1
    /// The newest snapshot in the topic.
    private var lastSnapshot: (offset: Int64, time: Instant)
    private var hasChangedSinceSnapshot = false
    /// True if the topic was created again and contains no snapshot, or one that lacks records which this member has
    /// read.
    private var isSnapshotLost = false
    /// All records of a topic without a snapshot, or whose first snapshot may still be corrected; `nil` later.
    private var youngTopic: BudgetHistory?
    /// This member's state of the deleted topic, as a snapshot that precedes all records of the new topic. `nil` if the
    /// member has read no deleted topic, and once the new topic is no longer young.
    private var former: BudgetMessage.Snapshot?

    /// - Parameters:
    ///   - name: the member's name.
    ///   - fleet: the member's fleet; records of other fleets are ignored.
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

    /// True if the log must be read again from an older record.
    var needsOlderRecords: Bool {
        if case .tooShort = reading { true } else { false }
    }

    // MARK: - Reading

    /// Begins to read the log, for the first time or again: see `BudgetMember.begin`.
    mutating func begin(_ extent: FleetTopicExtent, at now: Instant) {
        lastOffset = extent.first.saturatingSubtracting(1)
        if isReady { ledgerBefore = ledger }

        // The new topic contains no calls of the day so far. Members that know them continue from their state, and
        // publish it.
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

    /// Processes a record about budgets.
    /// - Returns: `nil` for a record of the history, for one that was read before, and for one that concerns other
    ///   fleets only.
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

    /// Processes a record that is not about budgets.
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

        let effect = ledger.apply(message, at: offset)
        return Applied(effect: effect, isSnapshotTakenOver: takeOverSnapshot(from: message, at: offset))
    }

    /// Takes over the first snapshot of a topic that contained none, and a snapshot that corrects it.
    ///
    /// In a topic that was read from its beginning, this changes nothing. In a topic that was created again, a member
    /// that began before the first snapshot has counted from zero. A member that had not read all of the former topic
    /// lacks its last records. A member with more records than the snapshot keeps its state, and publishes it.
    /// - Returns: true if the state has changed.
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

    /// The snapshot to write now. In a topic that was created again, it covers only the former topic, so that the
    /// snapshots of several members can be compared.
    var snapshot: BudgetMessage.Snapshot {
        if isSnapshotLost, let former { return former }
        return BudgetMessage.Snapshot(offset: lastOffset, fleet: fleet, ledger: ledger)
    }

    /// Returns true if this member should write a snapshot. The members' waiting times differ a little, so that one of
    /// them writes first.
    func isSnapshotDue(at now: Instant) -> Bool {
        let (records, time) = (
            lastOffset.saturatingSubtracting(lastSnapshot.offset), lastSnapshot.time.duration(to: now)
        )
        return isSnapshotLost || Double(records) >= Double(terms.snapshotRecords) * (1 + spread / 4)
            || hasChangedSinceSnapshot && time >= terms.snapshotAge * (1 + spread / 4)
    }
}
