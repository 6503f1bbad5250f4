internal import Synchronization

/// One suspended task. Whoever comes first decides how it goes on: the owner's verdict or the task's cancellation.
/// Safe to settle from any thread, for a cancellation may come from any; the lock is taken only by tasks that wait.
///
/// Not generic over its verdicts: the runtime would look for its types in each request.
final class Waiter: Sendable {
    enum Verdict: Sendable {
        /// What it waited for is there.
        case served
        /// It would come too late, or has not come in time; `retryAfter` says when it may, where that is known.
        case tooLate(retryAfter: Duration? = nil)
        case cancelled
    }

    private enum State {
        case fresh
        case suspended(CheckedContinuation<Verdict, Never>)
        case settled(Verdict)
    }
    private let state = Mutex(State.fresh)

    /// Suspends the calling task until there is a verdict. Called once.
    func verdict(isolation: isolated (any Actor)? = #isolation) async -> Verdict {
        await withTaskCancellationHandler {
            // Named, or the closure would belong to no actor, and come to its turn by way of the executor's queue.
            _ = isolation
            return await withCheckedContinuation { continuation in
                let early: Verdict? = state.withLock { state in
                    if case .settled(let verdict) = state { return verdict }
                    state = .suspended(continuation)
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            settle(.cancelled)
        }
    }

    /// Lets the task go on.
    /// - Returns: `false` when it has its verdict already: what was meant for it goes to the next.
    @discardableResult
    func settle(_ verdict: Verdict) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            defer { if case .settled = state {} else { state = .settled(verdict) } }
            return switch state {
            case .fresh: (true, nil as CheckedContinuation<Verdict, Never>?)
            case .suspended(let continuation): (true, continuation)
            case .settled: (false, nil)
            }
        }
        continuation?.resume(returning: verdict)
        return isFirst
    }
}
