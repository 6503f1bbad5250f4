internal import Basics
internal import EventLoop

/// Makes a producer's calls about transactions, one at a time, each with a bound. Belongs to the producer's actor.
///
/// A call holds a thread of the client. librdkafka does not always keep to the time that a call is given (2.16). The call to
/// send offsets waits until its handler has a result, and the handler drops an answer that is outdated, so that the call never
/// returns; where a broker is silent, each of its requests takes `socket.timeout.ms` (60 s). The acknowledgements that end the
/// initialisation, a commit and an abort wait in the same way. So each call has a timer too: when that fires, the caller is told
/// that the call hangs, and the call keeps the client until it returns, if it ever does.
final class TransactionCalls {
    /// The time of one attempt to initialise, which goes on where it was when it is made again.
    private static let timeToInitialize = Duration.seconds(30)
    /// The time that a call is given at least, however late it is: a round trip to the brokers.
    private static let shortestTime = Duration.milliseconds(100)
    /// How much longer than its time a call may take that is given time up to the end.
    private static let overtimeAtEnd = Duration.seconds(1)
    private static let maxAttempts = 5

    private let loop: EventLoop
    private let usualTime: Duration
    private let overtime: Duration
    /// The time from which nothing is tried again; `nil` while nobody has asked for the end.
    private var end: Instant?
    /// The call that is waited for, who waits, and until when at most.
    private var current: (call: TransactionCall, waiter: CheckedContinuation<KafkaError?, Never>, due: Instant)?
    private var timer: TimerID?
    /// True while a call that its caller has left still holds the client, which therefore must not be destroyed.
    private(set) var hasStrayCall = false
    private var isClosed = false

    /// - Parameters:
    ///   - usualTime: The time that a call is given, with all its attempts, while nobody has asked for the end. A group's
    ///     coordinator is another broker 8 to 9 s after its own has died.
    ///   - overtime: How much longer than its time a call may take before it counts as hung.
    init(loop: EventLoop, usualTime: Duration = .seconds(10), overtime: Duration = .seconds(5)) {
        self.loop = loop
        self.usualTime = usualTime
        self.overtime = overtime
    }

    /// Bounds the call that is under way and all that come: from `instant` on nothing is tried again, no call is given time
    /// beyond it, and a call that has not returned a second later has failed. The initialisation fails at `instant` itself,
    /// because nothing is lost by leaving it.
    func endAll(by instant: Instant) {
        end = instant
        guard let current else { return }
        if current.call.isInitialization, instant <= loop.now { return stopWaiting() }
        setTimer(at: min(current.due, lastInstant(of: current.call, from: loop.now)))
    }

    /// Leaves the call that is under way, and has every call that comes, or would be tried again, fail.
    func close() {
        isClosed = true
        stopWaiting()
    }

    /// Makes a call; tries again what may be tried again.
    /// - Parameter start: Starts the call, to take the given time, on a thread that it may hold. `noteReturn` must follow.
    func make(
        _ call: TransactionCall, start: (TransactionCall, Duration) -> Void
    ) async throws(KafkaError) {
        let due = call.isInitialization ? nil : loop.now + usualTime
        for attempt in 1... {
            guard let error = await answer(to: call, before: due, start: start) else { return }

            // A call that timed out goes on where it was when it is made again.
            let hasTime = attempt < Self.maxAttempts && !isOver && due.map { loop.now < $0 } ?? true
            guard error.kind == .retriable, hasTime else { throw error }
            await loop.pause(.milliseconds(100 * attempt))
        }
    }

    /// True while a call is waited for.
    var isUnderway: Bool { current != nil }

    private var isOver: Bool { end.map { $0 <= loop.now } ?? false }

    private func answer(
        to call: TransactionCall, before due: Instant?, start: (TransactionCall, Duration) -> Void
    ) async -> KafkaError? {
        guard !isClosed else { return .closed }
        guard !hasStrayCall, !(call.isInitialization && isOver) else { return failure(of: call) }

        let begin = loop.now
        let due = due ?? begin + Self.timeToInitialize
        let given = max(Self.shortestTime, begin.duration(to: min(due, end ?? due)))
        return await withCheckedContinuation { waiter in
            let leftAt = min(begin + given + overtime, lastInstant(of: call, from: begin + given))
            current = (call, waiter, leftAt)
            setTimer(at: leftAt)
            start(call, given)
        }
    }

    /// The instant at which the end has a call left that may go on until `instant`.
    private func lastInstant(of call: TransactionCall, from instant: Instant) -> Instant {
        guard let end else { return instant + overtime }
        return max(end, instant) + (call.isInitialization ? .zero : Self.overtimeAtEnd)
    }

    /// The error of a call that is not waited for any longer.
    private func failure(of call: TransactionCall) -> KafkaError { isClosed || isOver ? call.unanswered : call.hung }

    /// Takes the answer to the call that is under way.
    /// - Returns: whether the call was left before, and so has held the client until now.
    func noteReturn(_ error: KafkaError?) -> Bool {
        let wasStray = hasStrayCall
        hasStrayCall = false
        endWait(with: error)
        return wasStray
    }

    private func setTimer(at due: Instant) {
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: due) { [weak self] in self?.stopWaiting() }
    }

    private func stopWaiting() {
        guard let call = current?.call else { return }
        hasStrayCall = true
        endWait(with: failure(of: call))
    }

    private func endWait(with error: KafkaError?) {
        if let timer { loop.cancel(timer) }
        timer = nil

        guard let waiter = current?.waiter else { return }
        current = nil
        waiter.resume(returning: error)
    }
}
