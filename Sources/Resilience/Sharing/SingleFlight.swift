/// Why a caller has no value of its own.
public enum SharedCallError<Failure: Error & Sendable>: Error, Sendable {
    /// What the call threw, and whether another caller's call threw it.
    case failed(Failure, isShared: Bool)
    /// The caller's own deadline passed; the call goes on for the others.
    case timedOut
    case cancelled
}

/// Lets identical calls in flight share one. Nothing is kept beyond the flight: the providers' terms allow no cache.
///
/// The call runs in a task of its own, so that it belongs to all who wait: one who is cancelled, or whose deadline
/// passes, leaves without harm to the others, and the call is cancelled only when nobody waits any more. It is given the
/// deadline of whoever came first. When it fails for lack of time, those who have more of it fly again, together:
/// a call's deadline cannot be moved once it is under way, and one that always had the longest possible would sit in
/// limiters that should refuse it.
///
/// Not `Sendable`: belongs to one actor, on which calls run.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable, Failure: Error & Sendable> {
    public struct Statistics: Sendable, Hashable {
        /// Calls made.
        public var flights = 0
        /// Callers that shared another's call.
        public var joined = 0
        /// Callers that flew again with more time of their own.
        public var again = 0
        /// Calls cancelled because nobody waited any more.
        public var abandoned = 0
        /// Calls under way now.
        public var underWay = 0
    }

    private final class Flight {
        let deadline: Deadline
        var task: Task<Void, Never>?
        /// What it brought, once it has landed.
        var result: Result<Value, Failure>?
        var waiters: [Waiter] = []
        var waiting = 0

        init(deadline: Deadline) { self.deadline = deadline }
    }

    private let isEnabled: Bool
    private let timekeeper: any Timekeeper
    private let taskExecutor: (any TaskExecutor)?
    private let lacksTime: (Failure) -> Bool
    private var flights: [Key: Flight] = [:]
    private var counters = Statistics()

    /// - Parameter isEnabled: `providers.<name>.singleFlight`; when off, each caller makes its own call in its own task.
    /// - Parameter taskExecutor: preferred by the calls' tasks. Without one, the runtime takes each resumed call through its
    ///   thread pool before it comes back to the actor.
    /// - Parameter lacksTime: whether a failure might not have been with a later deadline: timed out, or refused by a
    ///   limiter as too late.
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
        statistics.underWay = flights.count
        return statistics
    }

    /// Makes the call, or waits for the one under way with the same key.
    /// - Parameter call: ends by the deadline it is given; runs on the caller's actor.
    /// - Returns: the value, and whether another caller's call brought it.
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
            let found = flights[key]
            let flight = found ?? Flight(deadline: deadline)
            let waiter = board(flight, before: deadline)
            if found == nil {
                takeOff(flight, key, isolation, call)
            } else {
                counters.joined += 1
            }
            switch await waiter.verdict() {
            case .served:
                switch flight.result {
                case .success(let value): return (value, found != nil)
                case .failure(let error):
                    guard deadline > flight.deadline, lacksTime(error), !deadline.hasPassed(at: timekeeper.now) else {
                        throw .failed(error, isShared: found != nil)
                    }
                    counters.again += 1
                case nil: preconditionFailure("a flight that landed without a result")
                }
            case .tooLate:
                leave(flight, key)
                throw .timedOut
            case .cancelled:
                leave(flight, key)
                throw .cancelled
            }
        }
    }

    private func board(_ flight: Flight, before deadline: Deadline) -> Waiter {
        let waiter = Waiter()
        flight.waiters.append(waiter)
        flight.waiting += 1
        // The call ends by the flight's deadline; only who has less needs a timer.
        if deadline < flight.deadline {
            timekeeper.schedule(at: deadline.instant) { waiter.settle(.tooLate()) }
        }
        return waiter
    }

    private func takeOff(
        _ flight: Flight, _ key: Key, _ isolation: isolated (any Actor)?,
        _ call: @escaping (Deadline) async throws(Failure) -> Value
    ) {
        flights[key] = flight
        counters.flights += 1
        flight.task = Task.immediate(executorPreference: taskExecutor) {
            _ = isolation
            do throws(Failure) {
                flight.result = .success(try await call(flight.deadline))
            } catch {
                flight.result = .failure(error)
            }
            land(flight, key)
        }
    }

    private func land(_ flight: Flight, _ key: Key) {
        if flights[key] === flight { flights[key] = nil }
        for waiter in flight.waiters { waiter.settle(.served) }
    }

    private func leave(_ flight: Flight, _ key: Key) {
        flight.waiting -= 1
        // Not the flight of this key any more: it has landed.
        guard flight.waiting == 0, flights[key] === flight else { return }
        flights[key] = nil
        counters.abandoned += 1
        flight.task?.cancel()
    }
}
