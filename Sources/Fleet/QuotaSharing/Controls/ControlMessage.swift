/// A message of the fleet topic about orders that change how workers work.
///
/// Every worker reads every message in the one order that the topic's partition gives them: of two orders about the same
/// thing, the later one counts.
public struct ControlMessage: Sendable, Hashable {
    /// A question to the workers of the fleet. Each of them answers.
    public struct Question: Sendable, Hashable {
        /// The order that a person is about to give. The answer says whether the worker would take it up.
        public var order: ControlOrder?

        public init(order: ControlOrder? = nil) { self.order = order }
    }

    /// A worker's answer to a question or to an order.
    public struct Answer: Sendable, Hashable {
        /// The sender of the question or the order.
        public var to: String
        /// The name by which people know the worker: its machine or its pod.
        public var worker: String
        /// Why the worker does not take the order up, as one line for a person; `nil` where it does.
        public var refusal: String?
    }

    /// The orders that are in force after all records up to an offset. A worker writes them down from time to time, so that
    /// they outlast the topic's retention, and a new worker needs no older record.
    public struct Snapshot: Sendable, Hashable {
        /// The offset of the last record that the snapshot contains.
        public var offset: Int64
        public var orders: [ControlOrder]
    }

    /// The sender: a name that nobody else has, and that a restart changes.
    public var sender: String
    /// The fleet that is meant: see `QuotaScope.fleet`.
    public var fleet: String
    public var order: ControlOrder?
    public var question: Question?
    public var answer: Answer?
    public var snapshot: Snapshot?

    public init(
        sender: String, fleet: String, order: ControlOrder? = nil, question: Question? = nil, answer: Answer? = nil,
        snapshot: Snapshot? = nil
    ) {
        self.sender = sender
        self.fleet = fleet
        self.order = order
        self.question = question
        self.answer = answer
        self.snapshot = snapshot
    }
}
