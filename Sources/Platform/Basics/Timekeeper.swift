/// The current time, and callbacks at a later time, for types that make tasks wait.
///
/// Callbacks run in the isolation of the actor that owns the waiting type. On a worker's event loop this is implemented
/// by timers of that loop, on any other actor by `ClockTimekeeper`, and in a simulation by virtual time.
public protocol Timekeeper {
    var now: Instant { get }

    /// Runs `action` once, not before `due`, unless it is cancelled.
    @discardableResult
    func schedule(at due: Instant, action: @escaping () -> Void) -> ScheduledAction
}

/// An action that a `Timekeeper` runs later. Confined to the actor that scheduled it.
public struct ScheduledAction {
    private let cancelTimer: () -> Void

    public init(cancel: @escaping () -> Void) { cancelTimer = cancel }

    /// Cancels the timer. Does nothing if the action has run.
    public func cancel() { cancelTimer() }
}

/// A clock whose instants are `Instant`, so that all deadlines have the same type and tests can control time.
public protocol MonotonicClock: Clock where Instant == Basics.Instant, Duration == Swift.Duration {}

/// A timekeeper for types owned by an actor, with any clock: a task sleeps and then enters the actor. Each callback
/// costs a task; on an event loop, the loop's own timers are cheaper.
public struct ClockTimekeeper: Timekeeper, Sendable {
    private let clock: any MonotonicClock
    private weak let owner: (any Actor)?

    /// - Parameter owner: The actor that owns the types that use this timekeeper. Referenced weakly.
    public init(clock: any MonotonicClock, owner: any Actor) {
        self.clock = clock
        self.owner = owner
    }

    public var now: Instant { clock.now }

    public func schedule(at due: Instant, action: @escaping () -> Void) -> ScheduledAction {
        // Safe, because `action` is created and run only in the owner's isolation.
        nonisolated(unsafe) let action = action
        let task = Task { [clock, weak owner] in
            guard (try? await clock.sleep(until: due, tolerance: nil)) != nil, let owner else { return }
            await Self.run(unsafe action, on: owner)
        }
        return ScheduledAction { task.cancel() }
    }

    private static func run(_ action: () -> Void, on owner: isolated any Actor) { action() }
}
