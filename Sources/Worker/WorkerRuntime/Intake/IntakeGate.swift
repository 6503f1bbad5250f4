internal import Basics
internal import EventLoop

/// Decides how many more requests a lane may take, and suspends its reader while there is no room.
///
/// Three limits apply: requests in flight (within the window), open requests, and the bytes of unconfirmed outcomes.
/// Confined to its lane; not `Sendable`.
final class IntakeGate {
    /// The limits of a lane's work.
    struct Limits {
        /// The most requests in flight: this lane's share of `worker.concurrency`.
        var inFlight: Int
        /// The most open requests: in flight, or with an outcome that is unconfirmed.
        var open: Int
        /// The most bytes of unconfirmed outcomes and dead letters.
        var unconfirmedBytes: Int
    }

    private var limits: Limits
    private let settings: Limits
    private let loop: EventLoop
    /// The number of requests that have begun and whose outcome is not made.
    private(set) var inFlight = 0
    /// The number of requests in flight, or with an unconfirmed outcome.
    private(set) var open = 0
    /// The bytes of outcomes that wait for their delivery report or their transaction.
    private var unconfirmedBytes = 0
    private var window: InFlightWindow
    private var windowTimer: TimerID?
    /// The waits for room. Each task that finds room resumes the next one, so that a request that ends does not resume
    /// the tasks of hundreds of partitions.
    private var roomWait = Condition()
    /// `true` while a resumed task has not looked for room yet. No other one is resumed meanwhile: if both found none, they
    /// would wait again in the wrong order.
    private var isLooking = false
    /// The waits until outcomes are accepted again: `wait(while:)`.
    private var obstacleWait = Condition()
    private var isClosed = false
    /// `true` while no request may begin: controls have not been read yet, or they pause intake.
    var isPaused = false
    /// Called when there may be more room.
    var onRoom: (() -> Void)?

    init(_ limits: Limits, loop: EventLoop) {
        (self.limits, settings) = (limits, limits)
        self.loop = loop
        window = InFlightWindow(most: limits.inFlight, asleep: .zero, at: loop.now)
    }

    // MARK: - Counts

    func requestTaken() {
        inFlight += 1
        open += 1
    }

    /// Removes a request from those in flight: its outcome is made, or it waits for another request's dead letter.
    func leaveFlight() {
        inFlight -= 1
        wake()
    }

    func returnToFlight() { inFlight += 1 }

    func requestFinished() {
        open -= 1
        wake()
    }

    func outcomeHandedOver(bytes: Int) { unconfirmedBytes += bytes }

    func outcomeConfirmed(bytes: Int) { unconfirmedBytes -= bytes }

    // MARK: - Room

    /// Closes the gate permanently and ends all waits.
    func close() {
        isClosed = true
        roomWait.broadcast()
        obstacleWait.broadcast()
        onRoom?()
    }

    /// Changes the limit of requests in flight. Requests in flight finish.
    /// - Parameter inFlight: at least 1; `nil` restores the configured limit.
    func limit(inFlight: Int?) {
        let most = max(1, inFlight ?? settings.inFlight)
        guard most != limits.inFlight else { return }
        limits.inFlight = most
        limits.open = settings.open + max(0, most - settings.inFlight)
        window.setMost(most)
        wake()
    }

    /// Resumes one task that waits for room, and all that wait for another obstacle to end. Call it after anything that
    /// may have made room.
    func wake() {
        resumeNext()
        obstacleWait.broadcast()
        onRoom?()
    }

    private func resumeNext() {
        guard roomWait.isAwaited, !isLooking else { return }
        isLooking = true
        roomWait.signal()
    }

    /// Adapts the window to how busy the loop is. Call it once per pass of the reader.
    func adaptWindow() { window.adapt(inFlight: inFlight, asleep: loop.asleep, at: loop.now) }

    /// Waits until there is room for at least one more request.
    /// - Parameter isBlocked: `true` while requests may not begin for another reason. Code that changes this calls
    ///   `wake`.
    /// - Returns: the number of requests that may be taken; `nil` once the gate is closed.
    func waitForRoom(while isBlocked: () -> Bool) async -> Int? {
        var hasWaited = false
        while !isClosed {
            // Read once, because it can change with time alone.
            let room = isBlocked() ? 0 : room
            if room > 0 {
                resumeNext()
                return room
            }

            watchWindow()
            await suspend(unless: isClosed || (!isBlocked() && self.room > 0)) {
                if hasWaited { roomWait.addFirst($0) } else { roomWait.add($0) }
                hasWaited = true
            }
            if hasWaited { isLooking = false }
        }
        return nil
    }

    /// Waits while `isBlocked`, whether or not there is room: the oldest request of a partition may begin without room for
    /// its outcome. Code that changes `isBlocked` calls `wake`.
    func wait(while isBlocked: () -> Bool) async {
        while !isClosed, isBlocked() {
            await suspend(unless: isClosed || !isBlocked()) { obstacleWait.add($0) }
        }
    }

    /// Returns whether a request of the class may begin now.
    /// - Parameter others: the number of requests that are about to begin before it.
    func hasPlace(for requestClass: RequestClass, behind others: Int = 0) -> Bool {
        hasRoomForOutcome(of: requestClass) && inFlight + others < window.limit(for: requestClass)
    }

    /// Returns whether there is room for the outcome of a request of the class. A request without a call needs nothing
    /// else.
    func hasRoomForOutcome(of requestClass: RequestClass) -> Bool {
        let reserved = requestClass == .batch ? limits.unconfirmedBytes / InFlightWindow.interactivePart : 0
        return !isClosed && open < limits.open && unconfirmedBytes < limits.unconfirmedBytes - reserved
    }

    /// The number of requests that may be taken now.
    var room: Int { hasRoomForOutcome(of: .interactive) ? max(0, window.limit - inFlight) : 0 }

    /// Adapts a full window after its period, because it may grow although no request finishes meanwhile.
    func watchWindow() {
        guard window.isFull(inFlight: inFlight), window.limit < limits.inFlight, windowTimer == nil else { return }

        windowTimer = loop.schedule(at: loop.now + InFlightWindow.period) { [weak self] in
            guard let self else { return }
            windowTimer = nil
            adaptWindow()
            wake()
        }
    }
}
