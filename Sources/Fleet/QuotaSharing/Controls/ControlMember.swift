public import Basics

/// One process's view of the orders in the fleet topic: which of them are in force, and which messages need an answer.
///
/// A process does not know the orders before it has read the history, which must contain a snapshot or start at the
/// oldest record.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which passes it records and times.
public final class ControlMember {
    /// A message of another sender that concerns this process.
    public enum News: Sendable, Hashable {
        case order(ControlOrder, sender: String)
        case question(ControlMessage.Question, sender: String)
    }

    /// This process's name in the fleet, unique among all processes and starts.
    public let name: String
    private let fleet: String
    private let terms: ControlTerms
    /// A number from 0 to 1, by the member's name. The member with the least writes a snapshot before the others' are
    /// due.
    private let spread: Double

    private var reading = HistoryReading.notBegun
    /// The known orders; the previous ones while the topic is read again.
    public private(set) var book = ControlBook()
    /// The orders in the records of the history so far.
    private var history = ControlBook()
    private var extent = FleetTopicExtent(first: 0, end: 0, oldest: 0)
    /// True once a snapshot has been read since reading began.
    private var hasSnapshot = false
    /// The newest orders that were read before a snapshot.
    private var recordsBeforeSnapshot: [(offset: Int64, order: ControlOrder)] = []
    /// True while the topic, which was created again, lacks the orders that this process knows.
    private var isRemade = false
    private var lastOffset: Int64 = -1
    /// The time at which each order was first read.
    private var readAt: [ControlOrder: Instant] = [:]
    private var lastSnapshot: (offset: Int64, time: Instant)

    public init(name: String, fleet: String, terms: ControlTerms = ControlTerms(), at now: Instant) {
        self.name = name
        self.fleet = fleet
        self.terms = terms
        lastSnapshot = (-1, now)
        spread = Double(name.utf8.reduce(5381) { ($0 &* 33) ^ UInt32(truncatingIfNeeded: $1) } % 1000) / 1000
    }

    /// True once the topic has been read to its initial end. Before, the orders in force are not known.
    public var isKnown: Bool {
        if case .live = reading { true } else { false }
    }

    /// True if the topic must be read from its oldest record on.
    public var needsOlderRecords: Bool {
        if case .tooShort = reading { true } else { false }
    }

    // MARK: - Reading

    /// Begins to read the topic, for the first time or again.
    public func begin(_ extent: FleetTopicExtent, at now: Instant) {
        (self.extent, lastOffset) = (extent, extent.first.saturatingSubtracting(1))
        lastSnapshot = (extent.first, now)
        recordsBeforeSnapshot = []

        // The new topic contains no orders. A process that knows them publishes them.
        isRemade = extent.isRemade && isKnown
        hasSnapshot = isRemade
        if isRemade { return }

        history = ControlBook()
        reading = .history
        endHistory()
    }

    /// Processes a record of the topic.
    /// - Parameter message: `nil` for a record that does not concern orders.
    /// - Returns: the message, if this process must act on it.
    public func read(_ message: ControlMessage?, at offset: Int64, now: Instant) -> News? {
        guard offset > lastOffset else { return nil }
        lastOffset = offset
        if case .tooShort = reading { return nil }

        let isOfHistory = !isKnown
        defer { endHistory() }
        guard let message, message.fleet == fleet else { return nil }

        take(message, at: offset, now: now)
        for order in (isKnown ? book : history).orders where readAt[order] == nil { readAt[order] = now }
        guard let news = news(in: message) else { return nil }
        // The sender of an old question has stopped waiting. An order to drain names this process only, so it applies
        // however late it is read.
        if isOfHistory, case .order(let order, _) = news { return order.control == .drain ? news : nil }
        return isOfHistory ? nil : news
    }

    private func take(_ message: ControlMessage, at offset: Int64, now: Instant) {
        if let snapshot = message.snapshot { take(snapshot, at: offset, now: now) }
        guard let order = message.order else { return }

        if !hasSnapshot { recordsBeforeSnapshot = recordsBeforeSnapshot.suffix(Self.mostRecords) + [(offset, order)] }
        if isKnown { book.apply(order) } else { history.apply(order) }
    }

    /// The most orders that are remembered until a snapshot is read.
    private static let mostRecords = 256

    /// Applies a snapshot. Only the first one counts, with the orders that follow its records; later ones repeat what
    /// this process knows by then.
    ///
    /// In a topic that was read from its oldest record on, this changes nothing. In a topic that was created again, a
    /// process that began before the first snapshot knows none of the earlier orders.
    private func take(_ snapshot: ControlMessage.Snapshot, at offset: Int64, now: Instant) {
        lastSnapshot = (offset, now)
        isRemade = false
        // A snapshot is useful only with all records that follow those it contains.
        guard !hasSnapshot, snapshot.offset >= extent.first.saturatingSubtracting(1), snapshot.offset < offset else {
            return
        }

        hasSnapshot = true
        var taken = ControlBook(snapshot.orders)
        for record in recordsBeforeSnapshot where record.offset > snapshot.offset { taken.apply(record.order) }
        recordsBeforeSnapshot = []
        if isKnown { book = taken } else { history = taken }
    }

    private func endHistory() {
        guard case .history = reading, lastOffset.saturatingAdding(1) >= extent.end else { return }
        guard hasSnapshot || extent.first <= extent.oldest else { return reading = .tooShort }
        (book, history, reading) = (history, ControlBook(), .live)
    }

    private func news(in message: ControlMessage) -> News? {
        if let question = message.question {
            return question.order.map(isAboutThis) ?? true ? .question(question, sender: message.sender) : nil
        }
        guard let order = message.order, isAboutThis(order) else { return nil }
        return .order(order, sender: message.sender)
    }

    private func isAboutThis(_ order: ControlOrder) -> Bool { order.instance == nil || order.instance == name }

    // MARK: - Messages

    /// Returns this process's answer as a message.
    public func answer(to sender: String, as worker: String, refusal: String?) -> ControlMessage {
        ControlMessage(
            sender: name, fleet: fleet, answer: ControlMessage.Answer(to: sender, worker: worker, refusal: refusal))
    }

    /// Removes expired orders, and returns a snapshot if one is due.
    /// - Parameter time: the wall clock, in milliseconds since 1970.
    /// - Returns: the snapshot to publish; `nil` if none is due.
    public func tick(at now: Instant, wall time: Int64) -> ControlMessage? {
        guard isKnown else { return nil }
        book.removeOver(at: time) { order in
            // If this wall clock is fast, the order must stay in the snapshot for other readers. No order lasts longer
            // than from `at` to `until` by its sender's clock, and it was read after `at`.
            guard let end = order.until, let read = readAt[order] else { return true }
            return read.duration(to: now) >= .milliseconds(end.saturatingSubtracting(order.at))
        }
        if readAt.count > book.orders.count { readAt = readAt.filter { book.orders.contains($0.key) } }
        guard isSnapshotDue(at: now) else { return nil }

        // No further snapshot is due until this one is read back or lost.
        lastSnapshot = (lastOffset, now)
        isRemade = false
        return ControlMessage(
            sender: name, fleet: fleet,
            snapshot: ControlMessage.Snapshot(offset: lastOffset, orders: book.orders))
    }

    /// The members' waiting times differ a little, so that one of them writes first.
    private func isSnapshotDue(at now: Instant) -> Bool {
        if isRemade { return !book.orders.isEmpty }
        let records = lastOffset.saturatingSubtracting(lastSnapshot.offset)
        let isLong = Double(records) >= Double(terms.snapshotRecords) * (1 + spread / 4)
        return isLong
            || !book.orders.isEmpty
                && lastSnapshot.time.duration(to: now) >= terms.snapshotAge * (1 + spread / 4)
    }
}
