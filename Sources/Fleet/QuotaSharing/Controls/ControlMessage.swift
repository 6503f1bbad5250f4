/// A message of the fleet topic about orders that change how workers run.
///
/// Every worker reads every message in the order of the topic's partition. Of two orders for the same setting, the
/// later one counts.
public struct ControlMessage: Sendable, Hashable {
    /// A question to the workers of the fleet. Each of them answers.
    public struct Question: Sendable, Hashable {
        /// An order that an operator is about to send. The answer states whether the worker would accept it.
        public var order: ControlOrder?

        public init(order: ControlOrder? = nil) { self.order = order }
    }

    /// A worker's answer to a question or to an order.
    public struct Answer: Sendable, Hashable {
        /// The sender of the question or the order.
        public var to: String
        /// The name by which operators know the worker: its machine or its pod.
        public var worker: String
        /// The reason why the worker refuses the order, as one line for an operator; `nil` if it accepts it.
        public var refusal: String?
    }

    /// The orders in force after all records up to an offset. Workers publish it periodically, so that orders survive
    /// the topic's retention, and a new worker needs no older record.
    public struct Snapshot: Sendable, Hashable {
        /// The offset of the last record that the snapshot contains.
        public var offset: Int64
        public var orders: [ControlOrder]
    }

    /// The sender's name, unique in the fleet and changed by a restart.
    public var sender: String
    public var order: ControlOrder?
    public var question: Question?
    public var answer: Answer?
    public var snapshot: Snapshot?

    public init(
        sender: String, order: ControlOrder? = nil, question: Question? = nil, answer: Answer? = nil,
        snapshot: Snapshot? = nil
    ) {
        self.sender = sender
        (self.order, self.question, self.answer, self.snapshot) = (order, question, answer, snapshot)
    }
}
