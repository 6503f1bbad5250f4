internal import NIOCore

/// The event that a server waits for on one connection, and the end of that wait. It has one owner at a time and asks no
/// clock.
struct ConnectionClock {
    private enum Wait {
        /// Nothing of the next request has come.
        case idle
        /// A part of a request's head has come.
        case head
        /// The head has come, and the body has not ended.
        case body
        /// The request is whole.
        case none
    }

    private let limits: ConnectionLimits
    private var wait = Wait.idle
    private var since: NIODeadline
    /// The number of requests whose head has come and whose answer has not ended.
    private(set) var openRequests = 0

    init(_ limits: ConnectionLimits, now: NIODeadline) {
        self.limits = limits
        since = now
    }

    /// True while a connection has sent all that the server needs to answer.
    var isAnswering: Bool { openRequests > 0 && wait == .none }

    /// The time at which the connection is closed unless something happens before; `nil`: the client has nothing to do.
    var deadline: NIODeadline? {
        switch wait {
        case .idle: openRequests == 0 ? since + TimeAmount(limits.idleTimeout) : nil
        case .head: since + TimeAmount(limits.headTimeout)
        case .body: since + TimeAmount(limits.requestTimeout)
        case .none: nil
        }
    }

    /// Takes note of bytes from the client.
    mutating func receiveBytes(at now: NIODeadline) {
        // Behind a whole request they belong to the next one, which is read once the answer to this one has ended.
        guard wait == .idle else { return }
        (wait, since) = (.head, now)
    }

    mutating func receiveHead(at now: NIODeadline) {
        openRequests += 1
        if wait == .idle || wait == .none { since = now }
        wait = .body
    }

    mutating func receiveEnd(at now: NIODeadline) {
        // An answer may have ended before its request did.
        (wait, since) = (openRequests == 0 ? .idle : .none, now)
    }

    /// Takes note that an answer was written to its end.
    mutating func endAnswer(at now: NIODeadline) {
        openRequests = max(openRequests - 1, 0)
        if openRequests == 0, wait == .none { (wait, since) = (.idle, now) }
    }

    /// Begins the idle time anew, while the client still takes the bytes of the last answer.
    mutating func extendIdleTime(to now: NIODeadline) {
        if wait == .idle { since = now }
    }
}
