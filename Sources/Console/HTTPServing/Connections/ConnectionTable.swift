internal import NIOCore
internal import Synchronization

/// The open connections of a server, within their bound. Safe to use from any thread.
final class ConnectionTable: Sendable {
    private struct Entry {
        let channel: any Channel
        /// The time since which the server waits for a whole request; `nil` while an answer is in progress.
        var waitsSince: NIODeadline?
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The number of connections that were refused or closed to make room, and are not reported yet.
        var unreportedRefusals = 0
        var lastReported: NIODeadline?
    }

    /// The shortest time between two reports of too many connections.
    private static let reportInterval = TimeAmount.minutes(1)

    private let limits: ConnectionLimits
    private let state = Mutex(State())
    /// Called with the number of connections that were closed because there were too many.
    private let report: @Sendable (Int) -> Void

    init(_ limits: ConnectionLimits, report: @escaping @Sendable (Int) -> Void) {
        self.limits = limits
        self.report = report
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Adds a connection, and closes another one if there are too many.
    /// - Returns: false if there is no room for it, so that the caller must close it.
    func admit(_ channel: any Channel) -> Bool {
        let now = NIODeadline.now()
        let (isAdmitted, closed, refusals) = state.withLock { state in
            var closed: (any Channel)?
            if state.entries.count >= limit(for: channel) {
                guard let oldest = Self.longestWaiting(in: state) else {
                    return (false, nil as (any Channel)?, Self.countRefusal(in: &state, at: now))
                }
                closed = state.entries.removeValue(forKey: oldest)?.channel
            }
            state.entries[ObjectIdentifier(channel)] = Entry(channel: channel, waitsSince: now)
            return (true, closed, closed == nil ? 0 : Self.countRefusal(in: &state, at: now))
        }

        // Outside the lock, because closing runs that connection's handlers immediately if this thread is its event loop.
        closed?.close(promise: nil)
        if refusals > 0 { report(refusals) }
        return isAdmitted
    }

    /// Records that the server waits for a connection's next request.
    func beginWaiting(_ channel: any Channel) {
        let now = NIODeadline.now()
        state.withLock { $0.entries[ObjectIdentifier(channel)]?.waitsSince = now }
    }

    /// Records that a connection has sent a whole request, which protects it until the end of the answer.
    func beginAnswering(_ channel: any Channel) {
        state.withLock { $0.entries[ObjectIdentifier(channel)]?.waitsSince = nil }
    }

    func remove(_ channel: any Channel) {
        state.withLock { $0.entries[ObjectIdentifier(channel)] = nil }
    }

    private func limit(for channel: any Channel) -> Int {
        let most = max(limits.maxConnections, 1)
        return channel.remoteAddress?.isThisMachine == true ? most + max(limits.roomForThisMachine, 0) : most
    }

    private static func longestWaiting(in state: borrowing State) -> ObjectIdentifier? {
        var oldest: (id: ObjectIdentifier, since: NIODeadline)?
        for (id, entry) in state.entries {
            guard let since = entry.waitsSince, since < oldest?.since ?? .distantFuture else { continue }
            oldest = (id, since)
        }
        return oldest?.id
    }

    /// - Returns: the number to report now; 0 if the last report is recent.
    private static func countRefusal(in state: inout State, at now: NIODeadline) -> Int {
        state.unreportedRefusals += 1
        if let last = state.lastReported, now - last < reportInterval { return 0 }

        defer { state.unreportedRefusals = 0 }
        state.lastReported = now
        return state.unreportedRefusals
    }
}

extension SocketAddress {
    /// True for loopback addresses.
    fileprivate var isThisMachine: Bool {
        guard let text = ipAddress else { return false }
        return text.hasPrefix("127.") || text == "::1" || text.hasPrefix("::ffff:127.")
    }
}

/// The limits on the number of connections and on their waiting times.
///
/// An answer in progress has no time limit, because event streams last as long as their page is open. Only a client that
/// does not read its answer is disconnected.
package struct ConnectionLimits: Sendable, Hashable {
    /// The maximum number of connections, at least 1. Above it, a new connection replaces the one that has waited longest
    /// without a whole request. If every connection is being answered, the new one is closed.
    package var maxConnections = 256
    /// The number of additional connections from this machine, so that a probe succeeds when answers use all others.
    package var roomForThisMachine = 16
    /// The longest time without a request, from the start of the connection or the end of its last answer.
    package var idleTimeout: Duration = .seconds(75)
    /// The longest time from the first byte of a request to the end of its body.
    package var requestTimeout: Duration = .seconds(30)
    /// The longest time in which a client reads no byte of a pending answer.
    package var stallTimeout: Duration = .seconds(60)

    /// Connections are checked so often: a limit may be exceeded by this time.
    var timeBetweenChecks: Duration { min(min(idleTimeout, requestTimeout, stallTimeout) / 8, .seconds(1)) }

    package init() {}
}
