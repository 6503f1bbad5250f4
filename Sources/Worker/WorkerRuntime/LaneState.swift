internal import Basics

/// The phases in the life of a lane.
enum LaneState {
    case running
    /// No request is taken; those in flight may finish until this time.
    case draining(until: Instant)
    /// Nothing is taken, published or committed.
    case failed(any Error)

    var isRunning: Bool { if case .running = self { true } else { false } }
    var isDraining: Bool { drainEnd != nil }

    /// The time until which a draining lane lets requests finish; `nil` for a lane that does not drain.
    var drainEnd: Instant? { if case .draining(let end) = self { end } else { nil } }

    /// The failure that ended the lane; `nil` if there is none.
    var failure: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}
