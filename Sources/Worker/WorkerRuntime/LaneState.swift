internal import Basics

/// The phase of a lane's life.
enum LaneState {
    case running
    /// Nothing more is taken; what is in flight has until then to finish.
    case draining(until: Instant)
    /// Nothing more is taken, published or committed.
    case failed(any Error)

    var isRunning: Bool { if case .running = self { true } else { false } }
    var isDraining: Bool { drainEnd != nil }

    /// The instant until which a draining lane lets requests finish; `nil` for a lane that does not drain.
    var drainEnd: Instant? { if case .draining(let end) = self { end } else { nil } }

    /// The failure that ended the lane; `nil` without one.
    var failure: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}
