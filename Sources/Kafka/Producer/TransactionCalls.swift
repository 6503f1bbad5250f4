internal import Basics
internal import EventLoop

/// Makes a producer's calls about transactions, one at a time, each with a bound. Belongs to the producer's actor.
///
/// A call holds a thread of the client. librdkafka keeps to the time that a call is given, except where a request of its
/// own waits for a broker, which takes `socket.timeout.ms` (60 s; 2.16). So each call has a timer too: when that fires, the
/// caller is told that no answer came, and the call keeps the client until it returns, if it ever does.
final class TransactionCalls {
    /// The time that a call is given while nobody has asked for the end.
    private static let usualTime = Duration.seconds(30)
    /// The time that a call is given at least, however late it is: a round trip to the brokers.
    private static let shortestTime = Duration.milliseconds(100)
    private static let maxAttempts = 5

    /// How much longer than its time a call may take: as much as librdkafka may need, but little once the end is known.
    private var overtime: Duration { end == nil ? .seconds(65) : .seconds(1) }

    private let loop: EventLoop
    /// The time from which nothing is tried again; `nil` while nobody has asked for the end.
    private var end: Instant?
    /// The call that is waited for, and who waits.
    private var current: (call: TransactionCall, waiter: CheckedContinuation<KafkaError?, Never>)?
    private var timer: TimerID?
    /// The call that its caller has left and that still holds the client.
    private var strayCall: TransactionCall?
    /// How such a call ended. The same call takes this for its answer when it is made again, because librdkafka knows nothing
    /// of a commit any more that it has reported as done.
    private var lateAnswer: (name: String, error: KafkaError?)?
    private var isClosed = false

    init(loop: EventLoop) { self.loop = loop }

    /// Bounds the call that is under way and all that come: from `instant` on nothing is tried again, no call is given time
    /// beyond it, and a call that has not returned a second later has failed. The initialisation fails at `instant` itself,
    /// because nothing is lost by leaving it.
    func endAll(by instant: Instant) {
        end = instant
        guard let call = current?.call else { return }

        if call.isInitialization, instant <= loop.now {
            stopWaiting()
        } else {
            setTimer(at: call.isInitialization ? instant : max(instant, loop.now) + overtime)
        }
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
        for attempt in 1... {
            guard let error = await answer(to: call, start: start) else { return }

            // A call that timed out goes on where it was when it is made again.
            let mayRetry = error.kind == .retriable && attempt < Self.maxAttempts && !isOver
            guard mayRetry else { throw error }
            await loop.pause(.milliseconds(100 * attempt))
        }
    }

    /// True while a call that its caller has left still holds the client, which therefore must not be destroyed.
    var hasStrayCall: Bool { strayCall != nil }

    /// True while a call is waited for.
    var isUnderway: Bool { current != nil }

    private var isOver: Bool { end.map { $0 <= loop.now } ?? false }

    private func answer(
        to call: TransactionCall, start: (TransactionCall, Duration) -> Void
    ) async -> KafkaError? {
        guard !isClosed else { return .closed }
        guard !hasStrayCall, !(call.isInitialization && isOver) else { return call.unanswered }
        if let late = lateAnswer {
            lateAnswer = nil
            if late.name == call.name { return late.error }
        }

        let time = end.map { loop.now.duration(to: $0) } ?? Self.usualTime
        let given = min(max(time, Self.shortestTime), Self.usualTime)
        return await withCheckedContinuation { waiter in
            current = (call, waiter)
            let isLeftAtEnd = call.isInitialization && end != nil
            setTimer(at: loop.now + given + (isLeftAtEnd ? .zero : overtime))
            start(call, given)
        }
    }

    /// Takes the answer to the call that is under way.
    func noteReturn(_ error: KafkaError?) {
        if let strayCall { lateAnswer = (strayCall.name, error) }
        strayCall = nil
        endWait(with: error)
    }

    private func setTimer(at due: Instant) {
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: due) { [weak self] in self?.stopWaiting() }
    }

    private func stopWaiting() {
        guard let call = current?.call else { return }
        strayCall = call
        endWait(with: call.unanswered)
    }

    private func endWait(with error: KafkaError?) {
        if let timer { loop.cancel(timer) }
        timer = nil

        guard let waiter = current?.waiter else { return }
        current = nil
        waiter.resume(returning: error)
    }
}
