internal import NIOCore

/// The state of one connection and the deadline of the server's current wait. It has one owner at a time and reads no clock.
struct ConnectionClock {
    private enum Wait {
        /// No byte of the next request has arrived.
        case idle
        /// A part of a request's head has arrived.
        case head
        /// The head has arrived, but not the whole body.
        case body
        /// The request is complete.
        case none
    }

    private let limits: ConnectionLimits
    private var wait = Wait.idle
    private var since: NIODeadline
    /// The number of requests whose head has arrived and whose answer has not ended.
    private(set) var openRequests = 0

    init(_ limits: ConnectionLimits, now: NIODeadline) {
        self.limits = limits
        since = now
    }

    /// True if the server has all that it needs to answer.
    var isAnswering: Bool { openRequests > 0 && wait == .none }

    /// The time at which the connection is closed without further events; `nil`: the server does not wait for the client.
    var deadline: NIODeadline? {
        switch wait {
        case .idle: openRequests == 0 ? since + TimeAmount(limits.idleTimeout) : nil
        case .head: since + TimeAmount(limits.headTimeout)
        case .body: since + TimeAmount(limits.requestTimeout)
        case .none: nil
        }
    }

    /// Records bytes from the client.
    mutating func receiveBytes(at now: NIODeadline) {
        // After a whole request, they belong to the next one, which is read once the present answer has ended.
        guard wait == .idle else { return }
        (wait, since) = (.head, now)
    }

    mutating func receiveHead(at now: NIODeadline) {
        openRequests += 1
        if wait == .idle || wait == .none { since = now }
        wait = .body
    }

    mutating func receiveEnd(at now: NIODeadline) {
        // An answer may have ended before its request.
        (wait, since) = (openRequests == 0 ? .idle : .none, now)
    }

    /// Records the end of an answer.
    mutating func endAnswer(at now: NIODeadline) {
        openRequests = max(openRequests - 1, 0)
        if openRequests == 0, wait == .none { (wait, since) = (.idle, now) }
    }

    /// Restarts the idle time while the client still reads the last answer.
    mutating func extendIdleTime(to now: NIODeadline) {
        if wait == .idle { since = now }
    }
}
