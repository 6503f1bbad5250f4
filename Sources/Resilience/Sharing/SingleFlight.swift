/// The reason why a caller of shared calls has no value.
public enum SharedCallError<Failure: Error & Sendable>: Error, Sendable {
    /// The call failed. The flag is true when the call was made for another caller.
    case failed(Failure, isShared: Bool)
    /// The caller's own deadline passed; the call goes on for the others.
    case timedOut
    case cancelled
}

/// Lets identical calls that are under way at the same time share one. Nothing is kept beyond the call's end, because the
/// providers' terms allow no cache.
///
/// The call runs in a task of its own, so that it belongs to all callers that wait for it. A caller that is cancelled, or
/// whose deadline passes, leaves without harm to the others, and the call is cancelled only when no caller waits any more.
/// It has the deadline of the first caller. When it fails for lack of time, the callers that have more time make another
/// call together. A call's deadline cannot be moved once it is under way, and a call that always had the longest possible
/// one would wait in limiters that should refuse it.
///
/// Not `Sendable`: it belongs to one actor, on which the calls run.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable, Failure: Error & Sendable> {
    public struct Statistics: Sendable, Hashable {
        /// The number of calls made.
        public var calls = 0
        /// The number of callers that shared another caller's call.
        public var joined = 0
        /// The number of callers that made another call, because they had more time than the one that failed.
        public var again = 0
        /// The number of calls cancelled because no caller waited any more.
        public var abandoned = 0
        /// The number of calls under way now.
        public var underWay = 0
    }

    /// A call under way, with those that wait for it.
    private final class SharedCall {
        let deadline: Deadline
        var task: Task<Void, Never>?
        /// The call's result, once it has ended.
        var result: Result<Value, Failure>?
        var waiters: [Waiter] = []
        var waiting = 0

        init(deadline: Deadline) { self.deadline = deadline }
    }

    private let isEnabled: Bool
    private let timekeeper: any Timekeeper
    private let taskExecutor: (any TaskExecutor)?
    private let lacksTime: (Failure) -> Bool
    private var calls: [Key: SharedCall] = [:]
    private var counters = Statistics()

    /// - Parameter isEnabled: `providers.<name>.singleFlight`; when off, each caller makes its own call in its own task.
    /// - Parameter taskExecutor: the executor that the calls' tasks prefer. Without one, a resumed call goes through the
    ///   runtime's thread pool before it comes back to the actor: see docs/concurrency.md, 1.
    /// - Parameter lacksTime: returns true for a failure that a later deadline might have prevented, such as a timeout or a
    ///   limiter's refusal.
    public init(
        isEnabled: Bool = true, timekeeper: any Timekeeper, taskExecutor: (any TaskExecutor)? = nil,
        lacksTime: @escaping (Failure) -> Bool
    ) {
        self.isEnabled = isEnabled
        self.taskExecutor = taskExecutor
        self.timekeeper = timekeeper
        self.lacksTime = lacksTime
    }

    public var statistics: Statistics {
        var statistics = counters
        statistics.underWay = calls.count
        return statistics
    }

    /// Makes a call, or waits for the one that is under way with the same key.
    /// - Parameter call: makes the call on the caller's actor, and ends by the deadline that it is given.
    /// - Returns: the value, and true when the call was made for another caller.
    public func run(
        _ key: Key, before deadline: Deadline, isolation: isolated (any Actor)? = #isolation,
        _ call: @escaping (Deadline) async throws(Failure) -> Value
    ) async throws(SharedCallError<Failure>) -> (value: Value, isShared: Bool) {
        guard isEnabled else {
            do throws(Failure) { return (try await call(deadline), false) } catch {
                throw .failed(error, isShared: false)
            }
        }
        while true {
            guard !Task.isCancelled else { throw .cancelled }

            let found = calls[key]
            let shared = found ?? SharedCall(deadline: deadline)
            let waiter = join(shared, before: deadline)
            if found == nil {
                begin(shared, for: key, isolation: isolation, call)
            } else {
                counters.joined += 1
            }

            switch await waiter.verdict() {
            case .served:
                switch shared.result {
                case .success(let value): return (value, found != nil)
                case .failure(let error):
                    let moreTimeMayHelp = deadline > shared.deadline && lacksTime(error)
                    guard moreTimeMayHelp, !deadline.hasPassed(at: timekeeper.now) else {
                        throw .failed(error, isShared: found != nil)
                    }
                    counters.again += 1
                case nil: preconditionFailure("a call that ended without a result")
                }
            case .tooLate:
                leave(shared, of: key)
                throw .timedOut
            case .cancelled:
                leave(shared, of: key)
                throw .cancelled
            }
        }
    }

    private func join(_ call: SharedCall, before deadline: Deadline) -> Waiter {
        let waiter = Waiter()
        call.waiters.append(waiter)
        call.waiting += 1

        // The call itself ends by its own deadline, so only a caller that has less time needs a timer.
        if deadline < call.deadline {
            timekeeper.schedule(at: deadline.instant) { waiter.settle(.tooLate()) }
        }
        return waiter
    }

    private func begin(
        _ shared: SharedCall, for key: Key, isolation: isolated (any Actor)?,
        _ call: @escaping (Deadline) async throws(Failure) -> Value
    ) {
        calls[key] = shared
        counters.calls += 1
        shared.task = Task.immediate(executorPreference: taskExecutor) {
            _ = isolation  // see docs/concurrency.md, 3
            do throws(Failure) {
                shared.result = .success(try await call(shared.deadline))
            } catch {
                shared.result = .failure(error)
            }
            finish(shared, of: key)
        }
    }

    private func finish(_ call: SharedCall, of key: Key) {
        if calls[key] === call { calls[key] = nil }
        for waiter in call.waiters { waiter.settle(.served) }
    }

    private func leave(_ call: SharedCall, of key: Key) {
        call.waiting -= 1
        // A call that has ended is no longer the one of this key.
        guard call.waiting == 0, calls[key] === call else { return }

        calls[key] = nil
        counters.abandoned += 1
        call.task?.cancel()
    }
}
