internal import Synchronization

/// One suspended task. It resumes with the owner's verdict or its cancellation, whichever comes first.
///
/// May be settled from any thread, because a cancellation may come from any. Only waiting tasks take the lock. The type is
/// not generic over its verdicts, because the runtime would then look up its metadata for each request.
package final class Waiter: Sendable {
    package enum Verdict: Sendable {
        /// The task has what it waited for.
        case served
        /// The task would be served too late, or was not served in time. `retryAfter`: the time until one may be served, if known.
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

    /// Resumes the task.
    /// - Returns: `false` if the task already has its verdict; what was meant for it should go to the next one.
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
