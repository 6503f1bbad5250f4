/// A condition variable for tasks in one isolation: tasks wait until a condition holds.
///
///     while records.isEmpty {
///         await suspend(unless: !records.isEmpty) { arrival.add($0) }
///     }
///
/// Code that changes the awaited state calls `signal` or `broadcast`; each resumed task checks the state again. A
/// condition belongs to the isolation of its owner. `WakeUp` uses a lock instead, because any thread may wake its task.
public struct Condition {
    /// The continuations of waiting tasks, the next one to resume first.
    @usableFromInline var waiters: [CheckedContinuation<Void, Never>] = []

    @inlinable
    public init() {}

    /// True while a task waits.
    @inlinable
    public var isAwaited: Bool { !waiters.isEmpty }

    /// Adds the continuation of a waiting task, after all others.
    @inlinable
    public mutating func add(_ waiter: CheckedContinuation<Void, Never>) { waiters.append(waiter) }

    /// Adds the continuation of a waiting task, before all others.
    @inlinable
    public mutating func addFirst(_ waiter: CheckedContinuation<Void, Never>) { waiters.insert(waiter, at: 0) }

    /// Resumes the task that has waited the longest, if any.
    @inlinable
    public mutating func signal() {
        if isAwaited { waiters.removeFirst().resume() }
    }

    /// Resumes all tasks, in the order of their waiting.
    @inlinable
    public mutating func broadcast() {
        guard isAwaited else { return }
        for waiter in waiters { waiter.resume() }
        waiters.removeAll(keepingCapacity: true)
    }
}

/// Suspends the caller until the continuation stored by `keep` is resumed. Returns at once if `condition` holds.
///
/// Checks the condition inside the continuation, because another task may have run on this executor since the caller
/// checked it. Otherwise a wake-up in between would be lost (see docs/internals/concurrency.md, 5).
///
/// - Parameters:
///   - condition: Evaluated once, in the caller's isolation, without suspension between it and `keep`.
///   - isolation: The caller's actor; leave it at its default.
///   - keep: Stores the continuation, so that the code that makes the condition true can resume it exactly once.
@inlinable
public func suspend(
    unless condition: @autoclosure () -> Bool, isolation: isolated (any Actor)? = #isolation,
    keep: (CheckedContinuation<Void, Never>) -> Void
) async {
    await withCheckedContinuation(isolation: isolation) { continuation in
        if condition() { continuation.resume() } else { keep(continuation) }
    }
}
