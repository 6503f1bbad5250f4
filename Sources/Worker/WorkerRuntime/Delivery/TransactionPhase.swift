internal import Basics

/// The phases in the life of a `TransactionalDelivery`.
enum TransactionPhase: Equatable {
    /// The transactional id is being registered.
    case starting
    case running
    /// Ready outcomes are committed as far as the brokers accept them before `end`. While finishing, no further
    /// outcomes become ready.
    case ending(before: Instant, isFinishing: Bool)
    /// No further transaction may be committed.
    case stopped

    /// `true` when no further transaction may begin.
    func isOver(at now: Instant) -> Bool {
        switch self {
        case .starting, .running: false
        case .ending(let end, _): now >= end
        case .stopped: true
        }
    }

    /// The time at which the delivery ends; `nil` until a shutdown has begun.
    var end: Instant? {
        if case .ending(let end, _) = self { end } else { nil }
    }

    var isFinishing: Bool {
        if case .ending(_, isFinishing: true) = self { true } else { false }
    }
}
