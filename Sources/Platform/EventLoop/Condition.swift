/// Tasks that wait, in one isolation, until something holds: what a condition variable is to threads.
///
///     while records.isEmpty {
///         await suspend(unless: !records.isEmpty) { arrival.add($0) }
///     }
///
/// The code that changes what they wait for calls `signal` or `broadcast`; a task that was resumed looks again. A condition belongs to
/// the isolation of its owner. `Sleeper` keeps its task behind a lock instead, because any thread may wake it.
public struct Condition {
    // Nearly all conditions have one waiter, which needs no storage of its own. The others are few: an array will do.
    @usableFromInline var first: CheckedContinuation<Void, Never>?
    @usableFromInline var others: [CheckedContinuation<Void, Never>] = []

    @inlinable
    public init() {}

    /// True while a task waits.
    @inlinable
    public var isAwaited: Bool { first != nil }

    /// Keeps the continuation of a task that waits, behind all others.
    @inlinable
    public mutating func add(_ waiter: CheckedContinuation<Void, Never>) {
        if first == nil { first = waiter } else { others.append(waiter) }
    }

    /// Keeps the continuation of a task that goes on before all others.
    @inlinable
    public mutating func addFirst(_ waiter: CheckedContinuation<Void, Never>) {
        if let first { others.insert(first, at: 0) }
        first = waiter
    }

    /// Resumes the task that has waited the longest, if there is one.
    @inlinable
    public mutating func signal() {
        guard let waiter = first else { return }
        first = others.isEmpty ? nil : others.removeFirst()
        waiter.resume()
    }

    /// Resumes every task, in the order in which they came.
    @inlinable
    public mutating func broadcast() {
        guard let first else { return }
        let others = others
        self = Condition()
        first.resume()
        for waiter in others { waiter.resume() }
    }
}

/// Suspends the caller until the continuation that `keep` stores is resumed. Returns at once when `condition` holds.
///
/// Checks the condition inside the continuation, because another task may have run on this executor since the caller
/// checked it: a wake-up that came in between would otherwise be missed for good (see docs/internals/concurrency.md, 5).
///
/// - Parameters:
///   - condition: is evaluated once, in the caller's isolation, with no suspension between it and `keep`.
///   - isolation: the caller's actor; leave it at its default.
///   - keep: stores the continuation where the code that makes the condition true finds it and resumes it, exactly once.
@inlinable
public func suspend(
    unless condition: @autoclosure () -> Bool, isolation: isolated (any Actor)? = #isolation,
    keep: (CheckedContinuation<Void, Never>) -> Void
) async {
    await withCheckedContinuation(isolation: isolation) { continuation in
        if condition() { continuation.resume() } else { keep(continuation) }
    }
}
