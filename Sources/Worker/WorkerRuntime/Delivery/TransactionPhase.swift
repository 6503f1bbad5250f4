internal import Basics

/// The phase of a `TransactionalDelivery`'s life.
enum TransactionPhase: Equatable {
    /// The transactional id is being registered.
    case starting
    case running
    /// Ready outcomes are committed as far as the brokers take them before an instant. While finishing, nothing more
    /// comes.
    case ending(before: Instant, isFinishing: Bool)
    /// Nothing further may be committed.
    case stopped

    /// `true` when no further transaction may begin.
    func isOver(at now: Instant) -> Bool {
        switch self {
        case .starting, .running: false
        case .ending(let end, _): now >= end
        case .stopped: true
        }
    }

    /// The instant at which the end comes; `nil` while nobody has asked for it.
    var end: Instant? {
        if case .ending(let end, _) = self { end } else { nil }
    }

    var isFinishing: Bool {
        if case .ending(_, isFinishing: true) = self { true } else { false }
    }
}
