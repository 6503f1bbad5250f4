/// Tells the time, and calls back at a later one: what a type that makes tasks wait needs of its surroundings.
///
/// Calls arrive in the isolation of the actor that owns the waiting type: on a worker's event loop it is a timer of that loop,
/// on any other actor a `ClockTimekeeper`, in a simulation virtual time.
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

    /// Frees the timer. Nothing happens where the action has run.
    public func cancel() { cancelTimer() }
}

/// A clock whose instants are `Instant`, so that deadlines are one type everywhere and tests can drive time.
public protocol MonotonicClock: Clock where Instant == Basics.Instant, Duration == Swift.Duration {}

/// Keeps time for types that an actor owns, by any clock: a task sleeps and then enters the actor. Each call costs a task;
/// on an event loop the loop's own timers do the same for less.
public struct ClockTimekeeper: Timekeeper, Sendable {
    private let clock: any MonotonicClock
    private weak let owner: (any Actor)?

    /// - Parameter owner: the actor that owns the types that use this timekeeper. It is not kept alive.
    public init(clock: any MonotonicClock, owner: any Actor) {
        self.clock = clock
        self.owner = owner
    }

    public var now: Instant { clock.now }

    public func schedule(at due: Instant, action: @escaping () -> Void) -> ScheduledAction {
        // Handed from the owner to the owner: `action` is made and run in its isolation only.
        nonisolated(unsafe) let action = action
        let task = Task { [clock, weak owner] in
            guard (try? await clock.sleep(until: due, tolerance: nil)) != nil, let owner else { return }
            await Self.run(unsafe action, on: owner)
        }
        return ScheduledAction { task.cancel() }
    }

    private static func run(_ action: () -> Void, on owner: isolated any Actor) { action() }
}
