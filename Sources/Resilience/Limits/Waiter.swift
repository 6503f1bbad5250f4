internal import Synchronization

/// One suspended task. It goes on with the owner's verdict or with its cancellation, whichever comes first.
///
/// It may be settled from any thread, because a cancellation may come from any. Only tasks that wait take the lock. The type
/// is not generic over its verdicts, because the runtime would look its metadata up for each request.
package final class Waiter: Sendable {
    package enum Verdict: Sendable {
        /// The task has what it waited for.
        case served
        /// The task's turn would come too late, or has not come in time. `retryAfter` is the time until one may, if known.
        case tooLate(retryAfter: Duration? = nil)
        case cancelled
    }

    private enum State {
        case fresh
        case suspended(CheckedContinuation<Verdict, Never>)
        case settled(Verdict)
    }
    private let state = Mutex(State.fresh)

    package init() {}

    /// Suspends the calling task until there is a verdict. Called once.
    package func verdict(isolation: isolated (any Actor)? = #isolation) async -> Verdict {
        await withTaskCancellationHandler {
            // see docs/concurrency.md, 3
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
    /// - Returns: `false` when the task has its verdict already, so that the next one should have what was meant for it.
    @discardableResult
    package func settle(_ verdict: Verdict) -> Bool {
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
