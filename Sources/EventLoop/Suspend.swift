/// Suspends the caller until the continuation that `keep` stores is resumed. Returns at once when `condition` holds.
///
/// Checks the condition inside the continuation, because another task may have run on this executor since the caller
/// checked it: a wake-up that came in between would otherwise be missed for good (see docs/concurrency.md, 5).
///
///     while records.isEmpty {
///         await suspend(unless: !records.isEmpty) { reader = $0 }
///     }
///
/// - Parameters:
///   - condition: is evaluated once, in the caller's isolation, with no suspension between it and `keep`.
///   - isolation: the caller's actor; leave it at its default.
///   - keep: stores the continuation where whoever makes the condition true finds it and resumes it, exactly once.
@inlinable
public func suspend(
    unless condition: @autoclosure () -> Bool, isolation: isolated (any Actor)? = #isolation,
    keep: (CheckedContinuation<Void, Never>) -> Void
) async {
    await withCheckedContinuation(isolation: isolation) { continuation in
        if condition() { continuation.resume() } else { keep(continuation) }
    }
}
