internal import Basics

/// The state that results from the messages of a replicated log in their order.
protocol ReplicatedState: Equatable {
    associatedtype Message
    /// The effect of one message.
    associatedtype Change

    /// The number of records after the first snapshot in which a later one may correct it. In a topic that was created
    /// again, a member that had read more of the former topic than another corrects the other's snapshot. 0: none does.
    static var recordsWithCorrections: Int64 { get }

    /// The state of a log without records.
    init()

    /// Returns the snapshot in a message: the state after all records up to an offset.
    static func snapshot(in message: Message) -> (offset: Int64, state: Self)?

    mutating func apply(_ message: Message, at offset: Int64) -> Change

    /// True if this state includes all messages of another state of the same topic, and more.
    func isAhead(of other: Self) -> Bool
}

/// The sizes and times of all logs in the fleet topic.
public enum ReplicatedLogTerms {
    /// The number of newest records in which a new member searches for a snapshot. A smaller topic is read completely.
    public static let history: Int64 = 20_000
    /// A snapshot is written after this many records. Each fleet that shares the topic writes snapshots, so a small
    /// number would mean many of them.
    static let snapshotRecords: Int64 = 10_000
    /// A snapshot is written after this time, which is far below any retention of the topic.
    static let snapshotAge = Duration.seconds(600)
}

/// One member's view of the fleet topic as a log of messages that all members apply in the same order: the state after
/// its records, and when the next snapshot is due.
///
/// A new member does not know the state before it has read the history, which must contain a snapshot or start at the
/// oldest record.
struct ReplicatedLog<State: ReplicatedState> {
    private enum Reading {
        case notBegun
        /// Reads the records that existed when reading began; the state is unknown until their end.
        case history
        /// The history contains no snapshot, and there are older records.
        case tooShort
        case live
    }

    /// The result of reading a record.
    enum Result {
        /// The record was read before, or cannot be used.
        case ignored
        case ofHistory
        /// - Parameter isSnapshotTakenOver: true if another member's snapshot replaced the state.
        case applied(State.Change, isSnapshotTakenOver: Bool)
    }

    /// A number from 0 to 1, by the member's name. The member with the least writes a snapshot before the others' are
    /// due.
    let spread: Double
    private var reading = Reading.notBegun
    /// The state after all records that were read; the previous one while the log is read again.
    var state = State()
    /// The state after the records of the history so far.
    private var history = State()
    private var hasState = false
    /// The records of a topic without a snapshot, or whose first snapshot may still be corrected; `nil` later.
    private var young: YoungLog<State>?
    /// This member's state of the deleted topic, as a snapshot that precedes all records of the new topic. `nil` if the
    /// member has read no deleted topic, and once the new topic is no longer young.
    private var former: (offset: Int64, state: State)?
    /// The offset of the last record that was read.
    private var lastOffset: Int64 = -1
    /// The newest snapshot in the topic.
    private var lastSnapshot: (offset: Int64, time: Instant)
    /// True if the topic was created again and contains no snapshot, or one that lacks records which this member has
    /// read.
    private(set) var isSnapshotLost = false

    /// - Parameter name: the member's name.
    init(of name: String, at now: Instant) {
        lastSnapshot = (-1, now)
        spread = Double(name.utf8.reduce(5381) { ($0 &* 33) ^ UInt32(truncatingIfNeeded: $1) } % 1000) / 1000
    }

    /// True once the history is read.
    var isReady: Bool { reading == .live }

    /// True if the log must be read again from an older record.
    var needsOlderRecords: Bool { reading == .tooShort }

    // MARK: - Reading

    /// Begins to read the log, for the first time or again.
    mutating func begin(_ extent: FleetTopicExtent, at now: Instant) {
        lastOffset = extent.first.saturatingSubtracting(1)
        lastSnapshot = (lastOffset, now)
        (young, former) = (YoungLog(of: extent), nil)

        // The new topic contains nothing of the former one. Members that know its state continue from it, and publish
        // it.
        if extent.isRemade, hasState {
            (reading, isSnapshotLost) = (.live, true)
            if State.recordsWithCorrections > 0 { former = (lastOffset, state) } else { young = nil }
            return
        }

        history = State()
        reading = .history
        endHistory()
    }

    /// Processes a record with a message of the log.
    mutating func read(_ message: State.Message, at offset: Int64, now: Instant) -> Result {
        guard offset > lastOffset else { return .ignored }
        lastOffset = offset
        let hasSnapshot = State.snapshot(in: message) != nil

        switch reading {
        case .notBegun, .tooShort: return .ignored
        case .history:
            if hasSnapshot { lastSnapshot = (offset, now) }
            if let known = young?.add(message, at: offset) {
                history = known
            } else {
                _ = history.apply(message, at: offset)
            }
            endHistory()
            return .ofHistory
        case .live:
            if hasSnapshot { (lastSnapshot, isSnapshotLost) = ((offset, now), false) }
            let change = state.apply(message, at: offset)
            return .applied(
                change, isSnapshotTakenOver: takeOverSnapshot(from: message, at: offset, hasSnapshot: hasSnapshot))
        }
    }

    /// Processes a record without a message of the log.
    mutating func skip(_ offset: Int64) {
        guard offset > lastOffset else { return }
        lastOffset = offset
        young?.note(offset)
        endHistory()
    }

    private mutating func endHistory() {
        guard reading == .history, let young, lastOffset.saturatingAdding(1) >= young.extent.end else { return }
        guard !young.isTooShort else { return reading = .tooShort }

        (state, history) = (history, State())
        (reading, hasState) = (.live, true)
    }

    /// Takes over the first snapshot of a topic that contained none, and a snapshot that corrects it.
    ///
    /// In a topic that was read from its beginning, this changes nothing. In a topic that was created again, a member
    /// that began before the first snapshot has started from nothing. A member that had not read all of the former
    /// topic lacks its last records. A member with more records than the snapshot keeps its state, and publishes it.
    /// - Returns: true if the state has changed.
    private mutating func takeOverSnapshot(from message: State.Message, at offset: Int64, hasSnapshot: Bool) -> Bool {
        guard young?.takesCorrections(at: offset) == true else {
            (young, former) = (nil, nil)
            return false
        }
        let known = young?.add(message, at: offset)
        guard hasSnapshot, let basis = young?.basis else { return false }

        if let former, former.state.isAhead(of: basis) {
            isSnapshotLost = true
            return false
        }
        guard let known, known != state else { return false }
        state = known
        return true
    }

    // MARK: - Snapshots

    /// The snapshot to write now. In a topic that was created again, it covers only the former topic, so that the
    /// snapshots of several members can be compared.
    var snapshot: (offset: Int64, state: State) {
        if isSnapshotLost, let former { return former }
        return (lastOffset, state)
    }

    /// Returns true if this member should write a snapshot. The members' waiting times differ a little, so that one of
    /// them writes first.
    /// - Parameter ifOld: true if a snapshot is due because the last one is old.
    func isSnapshotDue(at now: Instant, ifOld: Bool) -> Bool {
        let records = lastOffset.saturatingSubtracting(lastSnapshot.offset)
        return isSnapshotLost || Double(records) >= Double(ReplicatedLogTerms.snapshotRecords) * (1 + spread / 4)
            || ifOld && lastSnapshot.time.duration(to: now) >= ReplicatedLogTerms.snapshotAge * (1 + spread / 4)
    }

    /// Records that this member writes a snapshot, so that no further one is due until this one is read back or lost.
    mutating func noteSnapshot(at now: Instant) {
        lastSnapshot = (lastOffset, now)
        isSnapshotLost = false
    }
}

/// The records of a topic without a snapshot, or whose first snapshot may still be corrected.
private struct YoungLog<State: ReplicatedState> {
    /// The extent of the topic when reading began.
    let extent: FleetTopicExtent
    /// The offset of the first record that was read.
    private var first: Int64
    private var hasBegun = false
    /// The offset of the first usable snapshot; `nil` until one has been read.
    private var snapshotOffset: Int64?
    /// The state in the newest snapshot that counts, without later records.
    private(set) var basis: State?
    private var records: [(offset: Int64, message: State.Message)] = []

    init(of extent: FleetTopicExtent) {
        self.extent = extent
        first = extent.first
    }

    /// Counts a record that was read, with or without a message. The first one may come later than the announced
    /// offset.
    mutating func note(_ offset: Int64) {
        if !hasBegun { first = max(first, offset) }
        hasBegun = true
    }

    /// Adds a record with a message.
    /// - Returns: the state after all records, if the message has the first usable snapshot or one that corrects it.
    mutating func add(_ message: State.Message, at offset: Int64) -> State? {
        note(offset)
        guard takesCorrections(at: offset) else {
            records = []
            return nil
        }
        records.append((offset, message))

        // A snapshot is useful only with all records that follow it.
        guard let snapshot = State.snapshot(in: message), snapshot.offset >= first - 1, snapshot.offset < offset,
            basis.map({ snapshot.state.isAhead(of: $0) }) ?? true
        else { return nil }
        snapshotOffset = snapshotOffset ?? offset
        basis = snapshot.state
        return records.reduce(into: snapshot.state) { state, record in
            if record.offset > snapshot.offset { _ = state.apply(record.message, at: record.offset) }
        }
    }

    /// True while a later snapshot may correct the first one.
    func takesCorrections(at offset: Int64) -> Bool {
        snapshotOffset.map { offset < $0 + State.recordsWithCorrections } ?? true
    }

    /// True if older records must be read: these contain no snapshot, and are not all that exist.
    /// The oldest offset may hold no record, such as the marker of a transaction.
    var isTooShort: Bool { snapshotOffset == nil && extent.first > extent.oldest }
}
