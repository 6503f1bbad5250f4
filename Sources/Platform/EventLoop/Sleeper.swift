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
    public func sleep(for time: Duration) async throws(CancellationError) {
        let sleeper = Sleeper()
        var timer: TimerID?
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard sleeper.begin(continuation) else { return continuation.resume() }
                timer = schedule(at: now + time) { sleeper.end() }
            }
        } onCancel: {
            sleeper.end()
        }

        if let timer, isCurrent { cancel(timer) }
        if Task.isCancelled { throw CancellationError() }
    }
}

/// A sleeping task, resumed by its timer or its cancellation, whichever comes first. Thread-safe.
final class Sleeper: Sendable {
    private enum State {
        case awake
        case asleep(CheckedContinuation<Void, Never>)
        case ended
    }
    private let state = Mutex(State.awake)

    /// Stores the continuation of the task.
    /// - Returns: `false` if the sleep has already ended: then the caller must resume the continuation.
    func begin(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            guard case .awake = state else { return false }
            state = .asleep(continuation)
            return true
        }
    }

    /// Resumes the task at the first call; later calls do nothing.
    func end() {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .ended }
            guard case .asleep(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume()
    }
}
