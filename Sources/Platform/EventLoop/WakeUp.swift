internal import Basics
internal import Synchronization

/// Lets one task at a time rest until its time is over, or until it is woken. Thread-safe.
package final class WakeUp: Sendable {
    private struct State {
        var sleeper: CheckedContinuation<Void, Never>?
        var isWoken = false
        /// Counts the rests, so that the timer of one does not end the next.
        var rest = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// Ends the rest that lasts, or the next one at once.
    package func wake() {
        let sleeper = state.withLock { state in
            defer { state.sleeper = nil }
            state.isWoken = state.sleeper == nil
            return state.sleeper
        }
        sleeper?.resume()
    }

    /// Suspends the caller, which must run on the loop, for `time` at the most.
    package func rest(for time: Duration, on loop: EventLoop) async {
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
            loop.schedule(at: loop.now + time) { self.end(rest) }
        }
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
