/// How many connections a server keeps, and how long each may make the server wait.
///
/// An answer that is under way has no time limit, because streams of events go on for as long as their page listens. Only a
/// client that reads nothing of its answer is cut off.
package struct ConnectionLimits: Sendable, Hashable {
    /// The most connections at a time. At least 1. Above it, a new connection takes the place of the one that has waited
    /// longest without a whole request; where every connection is being answered, the new one is closed.
    package var maxConnections = 256
    /// How many connections from this machine are kept beyond `maxConnections`, so that a probe gets through when answers
    /// take up all others.
    package var roomForThisMachine = 16
    /// The longest time without a request, from the beginning of the connection or from its last answer.
    package var idleTimeout: Duration = .seconds(75)
    /// The longest time from the first byte of a request to the end of its head.
    package var headTimeout: Duration = .seconds(10)
    /// The longest time from the first byte of a request to the end of its body.
    package var requestTimeout: Duration = .seconds(30)
    /// The longest time in which a client takes not one byte of an answer that waits for it.
    package var stallTimeout: Duration = .seconds(60)

    package init() {}
}
