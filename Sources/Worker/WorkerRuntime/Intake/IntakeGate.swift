internal import Basics
internal import EventLoop

/// Decides how many more requests a lane may take, and keeps its reader waiting while that is none.
///
/// Three bounds count: requests in flight (within the window), open requests, and the bytes of unconfirmed outcomes. Confined to its lane; not `Sendable`.
final class IntakeGate {
    /// The bounds of what a lane takes at once.
    struct Limits {
        /// The most requests in flight: this lane's part of `worker.concurrency`.
        var inFlight: Int
        /// The most open requests: in flight, or with an outcome that is unconfirmed.
        var open: Int
        /// The most bytes of outcomes and dead letters that may wait for the brokers' confirmation.
        var unconfirmedBytes: Int
    }

    private var limits: Limits
    private let settings: Limits
    private let loop: EventLoop
    /// Requests that have begun and whose outcome is not made.
    private(set) var inFlight = 0
    /// Requests in flight, and those whose outcome is unconfirmed.
    private(set) var open = 0
    /// The bytes of their outcomes that wait for the brokers' confirmation, or for their transaction.
    private var unconfirmedBytes = 0
    private var window: InFlightWindow
    private var windowTimer: TimerID?
    private var change = Condition()
    private var isClosed = false
    /// Called when there may be more room than before.
    var onRoom: (() -> Void)?

    init(_ limits: Limits, loop: EventLoop) {
        (self.limits, settings) = (limits, limits)
        self.loop = loop
        window = InFlightWindow(most: limits.inFlight, asleep: .zero, at: loop.now)
    }

    // MARK: - What is under way

    func requestTaken() {
        inFlight += 1
        open += 1
    }

    /// Takes a request out of those in flight: its outcome is made, or it waits for another request's dead letter.
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

    /// Ends the gate for good: nobody waits any more.
    func close() {
        isClosed = true
        wake()
    }

    /// Changes the most requests in flight. What is in flight finishes.
    /// - Parameter inFlight: at least 1; `nil`: what the settings say.
    func limit(inFlight: Int?) {
        let most = max(1, inFlight ?? settings.inFlight)
        guard most != limits.inFlight else { return }
        limits.inFlight = most
        limits.open = settings.open + max(0, most - settings.inFlight)
        window.setMost(most)
        wake()
    }

    /// Has the reader look at the room again. Call it after anything that may have made some.
    func wake() {
        // Beside the reader, careful intake and the task that begins requests may wait here.
        change.broadcast()
        onRoom?()
    }

    /// Lets the window follow how busy the loop is. Call it once per turn of the reader.
    func adaptWindow() { window.adapt(inFlight: inFlight, asleep: loop.asleep, at: loop.now) }

    /// Waits until there is room for at least one more request.
    /// - Parameter isBlocked: `true` while nothing may begin for another reason. Code that changes that calls `wake`.
    /// - Returns: how many more requests may be taken; `nil` once the gate is closed.
    func waitForRoom(while isBlocked: () -> Bool) async -> Int? {
        while !isClosed {
            // Read once, because time alone can change it.
            let room = isBlocked() ? 0 : room
            if room > 0 { return room }

            watchWindow()
            await suspend(unless: isClosed || (!isBlocked() && self.room > 0)) { change.add($0) }
        }
        return nil
    }

    /// The part of all places, one in so many, that is kept for interactive requests, so that they need not wait until one of many batch
    /// requests ends.
    private static let interactivePart = 8

    /// Returns whether a request of the class may begin now.
    /// - Parameter others: The requests that are about to begin before it.
    func hasPlace(for requestClass: RequestClass, behind others: Int = 0) -> Bool {
        let reserved = requestClass == .batch ? window.limit / Self.interactivePart : 0
        return hasRoomForOutcome(of: requestClass) && window.limit - inFlight - others > reserved
    }

    /// Returns whether the outcome of a request of the class may be made now. A request without a call needs no more than that.
    func hasRoomForOutcome(of requestClass: RequestClass) -> Bool {
        let reserved = requestClass == .batch ? limits.unconfirmedBytes / Self.interactivePart : 0
        return !isClosed && open < limits.open && unconfirmedBytes < limits.unconfirmedBytes - reserved
    }

    private var room: Int { hasRoomForOutcome(of: .interactive) ? max(0, window.limit - inFlight) : 0 }

    /// Looks at the window again after its period, because it may widen although nothing ends meanwhile.
    private func watchWindow() {
        guard window.limit < limits.inFlight, windowTimer == nil else { return }

        windowTimer = loop.schedule(at: loop.now + InFlightWindow.period) { [weak self] in
            guard let self else { return }
            windowTimer = nil
            adaptWindow()
            wake()
        }
    }
}
