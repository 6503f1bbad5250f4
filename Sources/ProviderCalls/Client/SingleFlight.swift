internal import Basics
import Resilience

/// The end of a caller of a coalesced call that has no answer.
enum SharedCallError: Error {
    /// The call failed. The flag is true when the call was made for another caller.
    case failed(ProviderFailure, isShared: Bool)
    /// The caller's own deadline passed; the call goes on for the others.
    case timedOut
    case cancelled
}

/// Lets identical calls that are under way at the same time share one. Nothing is kept beyond the call's end, because the
/// providers' terms allow no cache.
///
/// The call runs in a task of its own, so that it belongs to all callers that wait for it. A caller that is cancelled, or
/// whose deadline passes, leaves without harm to the others, and the call is cancelled only when no caller waits any more.
/// It has the deadline and the lifetime of the first caller. When it fails for lack of time, the callers that have more
/// time make another call together. A call's deadline cannot be moved once it is under way, and a call that always had the longest possible
/// one would wait in limiters that should refuse it.
///
/// Not generic, although it could be: the runtime would look up the metadata of its types some twenty times for each
/// request, which takes as long as the rest of it.
///
/// Not `Sendable`: it belongs to one actor, on which the calls run.
final class SingleFlight {
    struct Statistics: Sendable, Hashable {
        /// The number of calls made.
        var calls = 0
        /// The number of callers that shared another caller's call.
        var joined = 0
        /// The number of callers that made another call, because they had more time than the one that failed.
        var again = 0
        /// The number of calls cancelled because no caller waited any more.
        var abandoned = 0
        /// The number of calls under way now.
        var underWay = 0
    }

    /// A call under way, with those that wait for it.
    private final class SharedCall {
        let deadline: Deadline
        /// The query of the first caller, for which the call is made.
        let query: ProviderQuery
        var task: Task<Void, Never>?
        /// The call's result, once it has ended.
        var result: Result<ProviderResponse, ProviderFailure>?
        var waiters: [Waiter] = []
        var waiting = 0

        init(for query: ProviderQuery, deadline: Deadline) {
            self.query = query
            self.deadline = deadline
        }

        /// True once the provider has been called: waiting on costs nothing more.
        var isPaid: Bool { query.context?.hasCalled ?? true }
    }

    private let timekeeper: any Timekeeper
    private let taskExecutor: (any TaskExecutor)?
    private var calls: [ProviderQuery: SharedCall] = [:]
    private var counters = Statistics()
    /// Called when a request of a more urgent class waits for a call that is under way, with that call's query.
    var onMoreUrgent: ((ProviderQuery) -> Void)?

    /// - Parameter taskExecutor: the executor that the calls' tasks prefer. Without one, a resumed call goes through the
    ///   runtime's thread pool before it comes back to the actor: see docs/concurrency.md, 1.
    init(timekeeper: any Timekeeper, taskExecutor: (any TaskExecutor)? = nil) {
        self.taskExecutor = taskExecutor
        self.timekeeper = timekeeper
    }

    var statistics: Statistics {
        var statistics = counters
        statistics.underWay = calls.count
        return statistics
    }

    /// Makes a call, or waits for the one that is under way for an equal query.
    /// - Parameter call: makes the call on the caller's actor, and ends by the deadline that it is given.
    /// - Returns: the answer, and true when the call was made for another caller.
    @inline(__always)
    func run(
        _ query: ProviderQuery, before deadline: Deadline, isolation: isolated (any Actor)? = #isolation,
        _ call: @escaping (Deadline) async throws(ProviderFailure) -> ProviderResponse
    ) async throws(SharedCallError) -> (answer: ProviderResponse, isShared: Bool) {
        while true {
            guard !Task.isCancelled else { throw .cancelled }

            let found = calls[query]
            let shared = found ?? SharedCall(for: query, deadline: deadline)
            let (waiter, timers) = join(shared, for: query, before: deadline)
            if found == nil {
                begin(shared, for: query, isolation: isolation, call)
            } else {
                counters.joined += 1
                noteUrgency(of: query, for: shared)
            }

            let verdict = await waiter.verdict()
            for timer in timers { timer.cancel() }
            switch verdict {
            case .served:
                switch shared.result {
                case .success(let answer): return (answer, found != nil)
                case .failure(let error):
                    guard moreTimeMayHelp(query, after: error, of: shared, before: deadline) else {
                        throw .failed(error, isShared: found != nil)
                    }
                    counters.again += 1
                case nil: preconditionFailure("a call that ended without a result")
                }
            case .tooLate:
                leave(shared, of: query)
                throw .timedOut
            case .cancelled:
                leave(shared, of: query)
                throw .cancelled
            }
        }
    }

    /// A call serves all that wait for it, so it is as urgent as the most urgent of them.
    @inline(never)
    private func noteUrgency(of query: ProviderQuery, for call: SharedCall) {
        guard query.flow.requestClass == .interactive, call.query.flow.requestClass == .batch, !call.isPaid else {
            return
        }
        onMoreUrgent?(call.query)
    }

    /// True for a caller that has more time than the call had which failed for lack of it.
    private func moreTimeMayHelp(
        _ query: ProviderQuery, after failure: ProviderFailure, of call: SharedCall, before deadline: Deadline
    ) -> Bool {
        guard failure.lacksTime, !deadline.hasPassed(at: timekeeper.now) else { return false }
        return deadline > call.deadline || query.mayCallLater(than: call.query)
    }

    /// - Returns: also the timers that end the wait early; most callers need none.
    private func join(
        _ call: SharedCall, for query: ProviderQuery, before deadline: Deadline
    ) -> (Waiter, timers: [ScheduledAction]) {
        let waiter = Waiter()
        var timers: [ScheduledAction] = []
        call.waiters.append(waiter)
        call.waiting += 1

        // The call itself ends by its own deadline, so only a caller that has less time needs a timer.
        if deadline < call.deadline {
            timers.append(timekeeper.schedule(at: deadline.instant) { waiter.settle(.tooLate()) })
        }
        if let lastCall = query.lastCall, lastCall < deadline.instant, call.query.mayCallLater(than: query) {
            timers.append(timekeeper.schedule(at: lastCall) { if !call.isPaid { waiter.settle(.tooLate()) } })
        }
        return (waiter, timers)
    }

    @inline(__always)
    private func begin(
        _ shared: SharedCall, for query: ProviderQuery, isolation: isolated (any Actor)?,
        _ call: @escaping (Deadline) async throws(ProviderFailure) -> ProviderResponse
    ) {
        calls[query] = shared
        counters.calls += 1
        shared.task = Task.immediate(executorPreference: taskExecutor) {
            _ = isolation  // see docs/concurrency.md, 3
            do throws(ProviderFailure) {
                shared.result = .success(try await call(shared.deadline))
            } catch {
                shared.result = .failure(error)
            }
            finish(shared, of: query)
        }
    }

    private func finish(_ call: SharedCall, of query: ProviderQuery) {
        if calls[query] === call { calls[query] = nil }
        for waiter in call.waiters { waiter.settle(.served) }
    }

    private func leave(_ call: SharedCall, of query: ProviderQuery) {
        call.waiting -= 1
        // A call that has ended is no longer the one of this query.
        guard call.waiting == 0, calls[query] === call else { return }

        calls[query] = nil
        counters.abandoned += 1
        call.task?.cancel()
    }
}
