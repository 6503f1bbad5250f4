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

    private struct State {
        /// The task, while it is suspended.
        var task: CheckedContinuation<Verdict, Never>?
        var verdict: Verdict?
    }
    private let state = Mutex(State())

    package init() {}

    /// Suspends the calling task until there is a verdict. Called once.
    package func verdict(isolation: isolated (any Actor)? = #isolation) async -> Verdict {
        await withTaskCancellationHandler {
            // see docs/internals/concurrency.md, 3
            _ = isolation
            return await withCheckedContinuation { continuation in
                let early = state.withLock { state in
                    if state.verdict == nil { state.task = continuation }
                    return state.verdict
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
        let (isFirst, task) = state.withLock { state in
            let isFirst = state.verdict == nil
            if isFirst { state.verdict = verdict }
            return (isFirst, state.task.take())
        }
        task?.resume(returning: verdict)
        return isFirst
    }
}
