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
    /// The longest time from the first byte of a request to the end of its head.
    package var headTimeout: Duration = .seconds(10)
    /// The longest time from the first byte of a request to the end of its body.
    package var requestTimeout: Duration = .seconds(30)
    /// The longest time in which a client reads no byte of a pending answer.
    package var stallTimeout: Duration = .seconds(60)

    package init() {}
}
