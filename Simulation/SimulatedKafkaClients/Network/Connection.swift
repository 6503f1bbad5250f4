internal import SimulatedKafka

/// A broker as seen by one client.
struct PeerID: Hashable {
    let client: String
    let broker: Int32
    let channel: SimulatedNetwork.Channel

    private var shortHash: Int { client.shortHash ^ (Int(broker) << 1 | (channel == .broker ? 0 : 1)) }

    func hash(into hasher: inout Hasher) { hasher.combine(shortHash) }
    func _rawHashValue(seed: Int) -> Int { shortHash ^ seed }
}

/// A client's connection state for one broker.
final class Peer {
    /// `reconnect.backoff.ms` and `reconnect.backoff.max.ms`.
    private static let (firstBackoff, longestBackoff) = (100 * ClusterRules.millisecond, 10 * ClusterRules.second)

    /// `nil` while there is nothing to send.
    var connection: Connection?
    private var nextAttempt: Int64 = 0
    private var backoff = Peer.firstBackoff

    /// Schedules an attempt to connect, as librdkafka does: the first one after a long time is immediate.
    /// - Returns: the time of the attempt.
    func connect(at now: Int64, jitter: Double) -> Int64 {
        if nextAttempt + Self.longestBackoff < now { backoff = Self.firstBackoff }
        let attempt = max(now, nextAttempt)
        nextAttempt = attempt + min(Self.longestBackoff, backoff + Int64(Double(backoff) * jitter))
        backoff = min(backoff * 2, Self.longestBackoff)
        return attempt
    }
}

/// One connection, until it breaks.
final class Connection {
    let client: String
    /// The time from which requests are sent.
    let opensAt: Int64
    var lastArrival: Int64 = 0
    var lastAnswer: Int64 = 0
    /// True while the broker has a request that it has not answered.
    var isBusy = false
    /// Requests that the broker reads after it has answered the previous one.
    var waiting: [Exchange] = []
    /// Requests whose answers are on their way to the client, in the order in which they were sent.
    var answers: [Exchange] = []
    /// The directions in which nothing passes any more, unnoticed by the client.
    var lost: Set<SimulatedNetwork.Direction> = []
    /// True if the client has closed the connection, or has noticed that it is gone.
    var isBroken = false
    /// Requests without an answer, in the order in which they were sent. Each fails when the connection breaks, or at its deadline.
    var unanswered: [Exchange] = []
    var lastNumber = 0
    /// The time of the next check of deadlines; `nil` if none is scheduled.
    var nextCheck: Int64?

    /// - Parameter client: the owner of the connection.
    init(of client: String, opensAt: Int64) {
        self.client = client
        self.opensAt = opensAt
    }
}
