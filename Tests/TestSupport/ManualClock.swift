package import Basics
import Resilience
import Synchronization

/// A clock that moves only when a test moves it. Safe to call from any thread.
package final class ManualClock: MonotonicClock {
    private struct State {
        var now: Instant
        var nextID = 0
        var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
    }
    private let state = Mutex(State(now: Instant.now))

    /// Makes a clock that shows the current time.
    package init() {}

    /// The time that the clock shows.
    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }
    /// The number of tasks that sleep on this clock. Wait until it has the expected value before `advance`.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves time on and wakes the sleepers that are due.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.until < $1.until }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enum Verdict { case sleep, wake, cancelled }
                let verdict: Verdict = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .cancelled }
                    if deadline <= state.now { return .wake }
                    state.sleepers[id] = (deadline, continuation)
                    return .sleep
                }
                switch verdict {
                case .sleep: break
                case .wake: continuation.resume()
                case .cancelled: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
