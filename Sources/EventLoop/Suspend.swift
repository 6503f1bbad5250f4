/// Suspends the caller until the continuation that `keep` stores is resumed. Returns at once when `condition` holds.
///
/// Re-checks the condition inside the continuation, because another task may have run on this executor since the caller
/// checked: a wake-up that came in between would otherwise be missed for good.
///
///     while records.isEmpty {
///         await suspend(unless: !records.isEmpty) { reader = $0 }
///     }
///
/// - Parameter condition: Evaluated once, in the caller's isolation, with no suspension between it and `keep`.
/// - Parameter isolation: The caller's actor. Leave it at its default.
/// - Parameter keep: Stores the continuation where whoever makes the condition true finds and resumes it, exactly once.
@inlinable
public func suspend(
    unless condition: @autoclosure () -> Bool, isolation: isolated (any Actor)? = #isolation,
    _ keep: (CheckedContinuation<Void, Never>) -> Void
) async {
    await withCheckedContinuation(isolation: isolation) { continuation in
        if condition() { continuation.resume() } else { keep(continuation) }
    }
}
