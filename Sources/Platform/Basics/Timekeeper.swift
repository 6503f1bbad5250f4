/// The current time, and callbacks at a later time, for types that make tasks wait.
///
/// Callbacks run in the isolation of the actor that owns the waiting type. On a worker's event loop this is implemented
/// by timers of that loop, and in tests by virtual time.
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

/// Work in progress that can be ended early. Safe to use from any thread.
public protocol Cancellable: Sendable {
    /// Ends the work soon, not within this call. Does nothing if it has ended.
    func cancel()
}

/// A clock whose instants are `Instant`, so that all deadlines have the same type and tests can control time.
public protocol MonotonicClock: Clock where Instant == Basics.Instant, Duration == Swift.Duration {}
