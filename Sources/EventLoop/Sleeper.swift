internal import Synchronization

/// One task that sleeps until its timer, or its cancellation, ends that: whichever comes first, from any thread.
final class Sleeper: Sendable {
    private enum State {
        case awake
        case asleep(CheckedContinuation<Void, Never>)
        case ended
    }
    private let state = Mutex(State.awake)

    /// Keeps the continuation of the task.
    /// - Returns: `false` when the sleep has ended before it began: the caller resumes the continuation.
    func begin(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            guard case .awake = state else { return false }
            state = .asleep(continuation)
            return true
        }
    }

    /// Resumes the task, the first time it is called.
    func end() {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .ended }
            guard case .asleep(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume()
    }
}
