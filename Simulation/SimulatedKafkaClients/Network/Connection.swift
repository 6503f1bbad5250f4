internal import SimulatedKafka

/// A broker as one client reaches it.
struct PeerID: Hashable {
    let client: String
    let broker: Int32
    let channel: SimulatedNetwork.Channel

    private var shortHash: Int { client.shortHash ^ (Int(broker) << 1 | (channel == .broker ? 0 : 1)) }

    func hash(into hasher: inout Hasher) { hasher.combine(shortHash) }
    func _rawHashValue(seed: Int) -> Int { shortHash ^ seed }
}

/// What a client knows of connecting to a broker.
final class Peer {
    /// `reconnect.backoff.ms` and `reconnect.backoff.max.ms`.
    private static let (firstBackoff, longestBackoff) = (100 * ClusterRules.millisecond, 10 * ClusterRules.second)

    /// `nil` while nothing is to be sent.
    var connection: Connection?
    private var nextAttempt: Int64 = 0
    private var backoff = Peer.firstBackoff

    /// Notes an attempt to connect, as librdkafka does: the first one after a long time is made at once.
    /// - Returns: when it is made.
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
    /// Requests are sent from then on.
    let opensAt: Int64
    var lastArrival: Int64 = 0
    var lastAnswer: Int64 = 0
    /// The broker has a request that it has not answered.
    var isBusy = false
    /// Requests that the broker reads when it has answered the one before.
    var waiting: [Exchange] = []
    /// Requests whose answers are on their way to the client, in the order in which they were sent.
    var answers: [Exchange] = []
    /// The directions in which nothing passes any more, which the client has yet to find out.
    var lost: Set<SimulatedNetwork.Direction> = []
    /// The client has hung up, or has found out that the connection is gone.
    var isBroken = false
    /// Requests that have no answer yet, in the order in which they were sent: each is told when the connection breaks, or when its
    /// time is up.
    var unanswered: [Exchange] = []
    var lastNumber = 0
    /// When it is looked next whether the time of a request is up; `nil` where that is not planned.
    var nextCheck: Int64?

    /// - Parameter client: whose connection it is.
    init(of client: String, opensAt: Int64) {
        self.client = client
        self.opensAt = opensAt
    }
}
