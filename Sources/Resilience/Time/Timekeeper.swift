public import Basics

/// Tells the time, and calls back at a later one: what a type that makes tasks wait needs of its surroundings.
///
/// Calls arrive in the isolation of the actor that owns the waiting type: on a worker's event loop it is a timer of that loop,
/// on any other actor a `ClockTimekeeper`, in a simulation virtual time.
public protocol Timekeeper {
    var now: Instant { get }

    /// Runs `action` once, not before `due`. There is no way to take it back: an action finds out whether it is still
    /// needed.
    func schedule(at due: Instant, _ action: @escaping () -> Void)
}
