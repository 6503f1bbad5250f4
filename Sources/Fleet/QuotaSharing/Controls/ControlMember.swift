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

    /// This process's name in the fleet, unique among all processes and starts.
    public let name: String
    private let fleet: String
    private var log: ReplicatedLog<ControlBook>
    /// The time at which each order was first read.
    private var readAt: [ControlOrder: Instant] = [:]

    public init(name: String, fleet: String, at now: Instant) {
        self.name = name
        self.fleet = fleet
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
    public func begin(_ extent: FleetTopicExtent, at now: Instant) { log.begin(extent, at: now) }

    /// Processes a record of the topic.
    /// - Parameter message: `nil` for a record that does not concern orders.
    /// - Returns: the message, if this process must act on it.
    public func read(_ message: ControlMessage?, at offset: Int64, now: Instant) -> News? {
        guard let message, message.fleet == fleet else {
            log.skip(offset)
            return nil
        }
        let result = log.read(message, at: offset, now: now)
        if case .ignored = result { return nil }
        for order in (message.snapshot?.orders ?? []) + [message.order].compactMap(\.self) where readAt[order] == nil {
            readAt[order] = now
        }

        let news = news(in: message)
        guard case .ofHistory = result else { return news }
        // The sender of an old question has stopped waiting. An order to drain names this process only, so it applies
        // however late it is read.
        if case .order(let order, _) = news, order.control == .drain { return news }
        return nil
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
        log.state.removeOver(at: time) { order in
            // If this wall clock is fast, the order must stay in the snapshot for other readers. No order lasts longer
            // than from `at` to `until` by its sender's clock, and it was read after `at`.
            guard let end = order.until, let read = readAt[order] else { return true }
            return read.duration(to: now) >= .milliseconds(end.saturatingSubtracting(order.at))
        }
        if readAt.count > book.orders.count { readAt = readAt.filter { book.orders.contains($0.key) } }

        // Without orders, there is nothing to publish in a topic that was created again.
        let hasOrders = !book.orders.isEmpty
        guard log.isSnapshotDue(at: now, ifOld: hasOrders), hasOrders || !log.isSnapshotLost else { return nil }
        let snapshot = ControlMessage.Snapshot(offset: log.snapshot.offset, orders: book.orders)
        log.noteSnapshot(at: now)
        return ControlMessage(sender: name, fleet: fleet, snapshot: snapshot)
    }
}

extension ControlBook: ReplicatedState {
    /// A process that knows the orders of a former topic keeps them, whatever another one publishes.
    static let recordsWithCorrections: Int64 = 0

    static func snapshot(in message: ControlMessage) -> (offset: Int64, state: ControlBook)? {
        message.snapshot.map { ($0.offset, ControlBook($0.orders)) }
    }

    static func isChange(_ message: ControlMessage) -> Bool { message.order != nil }

    mutating func apply(_ message: ControlMessage, at offset: Int64) {
        if let order = message.order { apply(order) }
    }

    func isAhead(of other: ControlBook) -> Bool { false }
}
