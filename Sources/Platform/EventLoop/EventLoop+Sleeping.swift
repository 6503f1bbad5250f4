internal import Basics
internal import Synchronization

extension EventLoop {
    /// Suspends the caller, which must run on the loop, for `time`. Cancellation of its task has no effect.
    public func pause(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            schedule(at: now + time) { continuation.resume() }
        }
    }

    /// Suspends the caller, which must run on the loop, for `time`, or until its task is cancelled.
    /// - Throws: `CancellationError` if the task was cancelled.
    public func sleep(
        for time: Duration, isolation: isolated (any Actor)? = #isolation
    ) async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        let wakeUp = WakeUp()
        await withTaskCancellationHandler {
            _ = isolation  // see docs/internals/concurrency.md, 3
            await wakeUp.rest(for: time, on: self)
        } onCancel: {
            wakeUp.wake()
        }
        if Task.isCancelled { throw CancellationError() }
    }
}

/// Suspends one task at a time, until its time has passed or it is woken. Thread-safe.
package final class WakeUp: Sendable {
    private struct State {
        var sleeper: CheckedContinuation<Void, Never>?
        var isWoken = false
        /// The number of the current rest, so that the timer of one rest does not end the next.
        var rest = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// Ends the current rest, or the next one as soon as it begins.
    package func wake() {
        let sleeper = state.withLock { state in
            defer { state.sleeper = nil }
            state.isWoken = state.sleeper == nil
            return state.sleeper
        }
        sleeper?.resume()
    }

    /// Suspends the caller, which must run on the loop, for at most `time`.
    package func rest(for time: Duration, on loop: EventLoop) async {
        var timer: TimerID?
        await withCheckedContinuation { continuation in
            let rest: Int? = state.withLock { state in
                if state.isWoken {
                    state.isWoken = false
                    return nil
                }
                state.sleeper = continuation
                state.rest += 1
                return state.rest
            }
            guard let rest else { return continuation.resume() }
            timer = loop.schedule(at: loop.now + time) { self.end(rest) }
        }
        if let timer, loop.isCurrent { loop.cancel(timer) }
    }

    private func end(_ rest: Int) {
        let sleeper = state.withLock { state in
            guard state.rest == rest else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.sleeper = nil }
            return state.sleeper
        }
        sleeper?.resume()
    }
}
