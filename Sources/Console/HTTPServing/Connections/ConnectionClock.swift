internal import NIOCore

/// The state of one connection, and whether its client has kept the server waiting too long. It has one owner at a time and
/// reads no clock.
struct ConnectionClock {
    private enum Wait {
        /// No byte of the next request has arrived.
        case idle
        /// A part of a request has arrived.
        case request
        /// The request is complete.
        case none
    }

    private let limits: ConnectionLimits
    private var wait = Wait.idle
    private var since: NIODeadline
    /// The number of requests whose head has arrived and whose answer has not ended.
    private var openRequests = 0
    /// The bytes of answers that the client has read, and when it last read some or had read all.
    private var bytesRead = 0
    private var lastReading: NIODeadline

    init(_ limits: ConnectionLimits, now: NIODeadline) {
        self.limits = limits
        since = now
        lastReading = now
    }

    /// True if the server has all that it needs to answer.
    var isAnswering: Bool { openRequests > 0 && wait == .none }

    /// Returns whether the connection is to be closed.
    func isOverdue(at now: NIODeadline) -> Bool {
        if now >= lastReading + TimeAmount(limits.stallTimeout) { return true }

        return switch wait {
        case .idle: openRequests == 0 && now >= since + TimeAmount(limits.idleTimeout)
        case .request: now >= since + TimeAmount(limits.requestTimeout)
        case .none: false
        }
    }

    /// Records bytes from the client.
    mutating func receiveBytes(at now: NIODeadline) {
        // After a whole request, they belong to the next one, which is read once the present answer has ended.
        guard wait == .idle else { return }
        (wait, since) = (.request, now)
    }

    mutating func receiveHead(at now: NIODeadline) {
        openRequests += 1
        if wait != .request { (wait, since) = (.request, now) }
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

    /// Records the bytes that the client has not read yet, of all that were written. It is not idle while it reads.
    mutating func look(pending: Int, written: Int, at now: NIODeadline) {
        if pending > 0, wait == .idle { since = now }
        guard pending == 0 || written &- pending != bytesRead else { return }
        (bytesRead, lastReading) = (written &- pending, now)
    }
}
