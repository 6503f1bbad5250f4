internal import Basics
internal import EventLoop

/// Makes a producer's transaction calls, one at a time, each with a time limit. Belongs to the producer's actor.
///
/// A call blocks a thread of the client, and librdkafka (2.16) does not always keep to the call's timeout. The call to
/// send offsets waits until its handler has a result, but the handler drops outdated answers, so the call never
/// returns. If a broker does not respond, each of its requests takes `socket.timeout.ms` (60 s). The acknowledgements
/// that end initialization, commit and abort wait in the same way.
///
/// Therefore each call also has a timer. When it fires, the caller gets the error `hung`. The call still uses the
/// client until it returns, if it ever does.
final class TransactionCalls {
    /// The timeout of one initialization attempt. The next attempt continues where the last one stopped.
    private static let timeToInitialize = Duration.seconds(30)
    /// The minimum timeout of a call, even after the deadline: one round trip to the brokers.
    private static let shortestTime = Duration.milliseconds(100)
    /// How long a call may exceed its timeout if the deadline set by `endAll` limits that timeout.
    private static let overtimeAtEnd = Duration.seconds(1)
    private static let maxAttempts = 5

    private let loop: EventLoop
    private let usualTime: Duration
    private let overtime: Duration
    /// The instant after which nothing is retried; `nil` while there is no such deadline.
    private var end: Instant?
    /// The current call, its waiter, and the instant at which the wait ends.
    private var current: (call: TransactionCall, waiter: CheckedContinuation<KafkaError?, Never>, due: Instant)?
    private var timer: TimerID?
    /// True while an abandoned call still uses the client, which therefore must not be destroyed.
    private(set) var hasStrayCall = false
    private var isClosed = false

    /// - Parameters:
    ///   - usualTime: The time limit of a call with all its attempts, without a deadline. A group's coordinator moves
    ///     to another broker 8 to 9 s after its own has crashed.
    ///   - overtime: How long a call may exceed its timeout before it counts as hung.
    init(loop: EventLoop, usualTime: Duration = .seconds(10), overtime: Duration = .seconds(5)) {
        (self.loop, self.usualTime, self.overtime) = (loop, usualTime, overtime)
    }

    /// Sets a deadline for the current call and all later ones. After `instant` nothing is retried, and no call is
    /// given time beyond it. A call that has not returned one second later has failed. Initialization fails at
    /// `instant` itself, because abandoning it loses nothing.
    func endAll(by instant: Instant) {
        end = instant
        guard let current else { return }
        if current.call.isInitialization, instant <= loop.now { return stopWaiting() }
        setTimer(at: min(current.due, lastInstant(of: current.call, from: loop.now)))
    }

    /// Abandons the current call. All later calls and retries fail.
    func close() {
        isClosed = true
        stopWaiting()
    }

    /// Makes a call, and retries it if its error is retriable.
    /// - Parameter start: Starts the call with the given timeout, on a thread that it may block. `noteReturn` must
    ///   follow.
    func make(_ call: TransactionCall, start: (TransactionCall, Duration) -> Void) async throws(KafkaError) {
        let due = call.isInitialization ? nil : loop.now + usualTime
        for attempt in 1... {
            guard let error = await answer(to: call, before: due, start: start) else { return }

            // A retried call continues where it was when it timed out.
            let hasTime = attempt < Self.maxAttempts && !isOver && due.map { loop.now < $0 } ?? true
            guard error.kind == .retriable, hasTime else { throw error }
            await loop.pause(.milliseconds(100 * attempt))
        }
    }

    /// True while a call is in progress.
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

    /// The instant at which a call is abandoned that may continue until `instant`, considering the deadline.
    private func lastInstant(of call: TransactionCall, from instant: Instant) -> Instant {
        guard let end else { return instant + overtime }
        return max(end, instant) + (call.isInitialization ? .zero : Self.overtimeAtEnd)
    }

    /// The error of an abandoned call.
    private func failure(of call: TransactionCall) -> KafkaError { isClosed || isOver ? call.unanswered : call.hung }

    /// Handles the return of the call in progress.
    /// - Returns: Whether the call was abandoned before, and so has used the client until now.
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
