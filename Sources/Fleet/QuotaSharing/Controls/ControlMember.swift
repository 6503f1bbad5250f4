public import Basics

/// One process's view of the orders in the fleet topic: which of them are in force, and which messages need an answer.
///
/// Does no I/O and reads no clock. Not `Sendable`: it belongs to one owner, which passes it records and times.
public final class ControlMember {
    /// A message of another sender that concerns this process.
    public enum News: Sendable, Hashable {
        case order(ControlOrder, sender: String)
        case question(ControlMessage.Question, sender: String)
    }

    /// The time in milliseconds for which a snapshot contains an order that has ended: a day.
    private static let timeToKeep: Int64 = 86_400_000

    /// This process's name in the fleet, unique among all processes and starts.
    public let name: String
    private var log: ReplicatedLog<ControlBook>
    /// The offset of the last record read, now and when the topic was opened again; `nil`: none.
    private var (lastRead, lastBeforeReopening): (Int64?, Int64?) = (nil, nil)

    public init(name: String, at now: Instant) {
        self.name = name
        log = ReplicatedLog(of: name, at: now)
    }

    /// The known orders; the previous ones while the topic is read again.
    public var book: ControlBook { log.state }

    /// True once the topic has been read to its initial end. Before, the orders in force are not known.
    public var isKnown: Bool { log.isReady }

    /// True if the topic must be read from its oldest record on.
    public var needsOlderRecords: Bool { log.needsOlderRecords }

    // MARK: - Reading

    /// Begins to read the topic, for the first time or again.
    public func begin(_ extent: FleetTopicExtent, at now: Instant) {
        if extent.isRemade { lastRead = nil }
        // Orders from before this process first knew the topic are history.
        if isKnown || lastBeforeReopening != nil { lastBeforeReopening = lastRead }
        log.begin(extent, at: now)
    }

    /// Processes a record of the topic.
    /// - Parameter message: `nil` for a record that does not concern orders.
    /// - Returns: the message, if this process must act on it.
    public func read(_ message: ControlMessage?, at offset: Int64, now: Instant) -> News? {
        lastRead = max(lastRead ?? offset, offset)
        guard let message else {
            log.skip(offset)
            return nil
        }
        let result = log.read(message, at: offset, now: now)
        if case .ignored = result { return nil }
        let news = news(in: message)
        guard case .ofHistory = result else { return news }
        // The sender of an old question has stopped waiting.
        guard case .order(let order, _) = news, appliesLate(order, at: offset) else { return nil }
        return news
    }

    /// True for an order of the history that still applies. An order to drain names this process only. A retry changes
    /// no book, so one published while the topic could not be read must still be carried out.
    private func appliesLate(_ order: ControlOrder, at offset: Int64) -> Bool {
        order.control == .drain || order.control == .retry && (lastBeforeReopening ?? .max) < offset
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
            sender: name, answer: ControlMessage.Answer(to: sender, worker: worker, refusal: refusal))
    }

    /// Removes expired orders, and returns a snapshot if one is due.
    /// - Parameter time: the wall clock, in milliseconds since 1970.
    /// - Returns: the snapshot to publish; `nil` if none is due.
    public func tick(at now: Instant, wall time: Int64) -> ControlMessage? {
        guard isKnown else { return nil }
        // The wall clock of this process may be ahead, and other readers may still need the order.
        log.state.removeOver(at: time.saturatingSubtracting(Self.timeToKeep))

        // Without orders, there is nothing to publish in a topic that was created again.
        let hasOrders = !book.orders.isEmpty
        guard log.isSnapshotDue(at: now, ifOld: hasOrders), hasOrders || !log.isSnapshotLost else { return nil }
        let snapshot = ControlMessage.Snapshot(offset: log.snapshot.offset, orders: book.orders)
        log.noteSnapshot(at: now)
        return ControlMessage(sender: name, snapshot: snapshot)
    }
}

extension ControlBook: ReplicatedState {
    /// A process that knows the orders of a former topic keeps them, whatever another one publishes.
    static let recordsWithCorrections: Int64 = 0

    static func snapshot(in message: ControlMessage) -> (offset: Int64, state: ControlBook)? {
        message.snapshot.map { ($0.offset, ControlBook($0.orders)) }
    }

    mutating func apply(_ message: ControlMessage, at offset: Int64) {
        if let order = message.order { apply(order) }
    }

    func isAhead(of other: ControlBook) -> Bool { false }
}
