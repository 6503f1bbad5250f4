package import SimulatedKafka

/// The kinds of requests that clients send.
package enum RequestKind: Hashable, Sendable, CaseIterable {
    case metadata, findCoordinator, produce, fetch, listOffsets, offsetCommit, offsetFetch
    case joinGroup, syncGroup, heartbeat, leaveGroup, consumerGroupHeartbeat
    case initProducerID, addPartitionsToTxn, addOffsetsToTxn, txnOffsetCommit, endTxn
}

/// The reason why a request has no answer.
package enum NetworkFailure: Error, Hashable, Sendable {
    /// The connection broke. The request may have been carried out.
    case disconnected
    /// No answer came before the request's deadline. The request may have been carried out, or may be carried out later.
    case timedOut
}

/// Carries requests to the cluster and answers back. The simulation's hooks decide about delays and losses.
///
/// Requests on one connection arrive in the order in which they were sent, and so do answers. A broker begins a request after it has
/// answered the previous one, as Kafka's brokers do, so a commit behind a JoinGroup waits as long as that. Each client has one
/// connection to each broker, and another one to the group's coordinator.
///
/// A lost message breaks its connection, as with TCP: all following messages in its direction are lost as well, until the client
/// notices. Then every request without an answer fails, and the client reconnects with growing delays.
package final class SimulatedNetwork {
    /// A request, as passed to hooks.
    package struct Message: Hashable, Sendable {
        package let client: String
        package let broker: Int32
        package let kind: RequestKind
    }

    /// The delays and losses of one request and its answer.
    package struct Fate: Hashable, Sendable {
        /// The delay of the request; `nil`: it is lost, and the connection breaks.
        package var requestDelay: Int64?
        /// The delay of the answer; `nil`: it is lost, and the connection breaks. The request takes effect.
        package var answerDelay: Int64?
        /// The time after which the client notices that the connection is broken.
        package var noticedAfter: Int64

        package init(requestDelay: Int64?, answerDelay: Int64?, noticedAfter: Int64 = ClusterRules.millisecond) {
            self.requestDelay = requestDelay
            self.answerDelay = answerDelay
            self.noticedAfter = noticedAfter
        }
    }

    package enum Channel: Comparable, Sendable {
        case broker
        case coordinator
    }

    /// A direction that can be cut.
    package enum Direction: Hashable, Sendable, CaseIterable {
        case requests
        case answers
    }

    private struct Line: Hashable {
        let client: String
        let broker: Int32
        let direction: Direction
    }

    package let cluster: SimulatedCluster
    package let scheduler: any SimulatedScheduler
    /// Decides the fate of each request. By default each way takes half a millisecond.
    package var fate: (Message) -> Fate = { _ in
        Fate(requestDelay: ClusterRules.millisecond / 2, answerDelay: ClusterRules.millisecond / 2)
    }
    /// Returns a number between -0.25 and 0.5: the fraction by which the delay before the next attempt to connect is longer.
    package var backoffJitter: () -> Double = { 0 }
    private var cuts: Set<Line> = []
    /// The number of times that each broker was stopped. Messages in flight are lost with the stopped broker's end of the connection.
    private(set) var stops: [Int32: Int] = [:]
    /// The lines that carry nothing at present, with the time at which that ends.
    private var held: [Line: Int64] = [:]
    /// The clients whose process stands still, with the time at which that ends.
    private var frozen: [String: Int64] = [:]
    private var peers: [PeerID: Peer] = [:]
    private var clusterWakeUp: Int64?
    /// The time of the cluster's next event, as of the last access. Nothing changes the cluster between two accesses.
    private var clusterDeadline: Int64?

    package init(cluster: SimulatedCluster, scheduler: any SimulatedScheduler) {
        self.cluster = cluster
        self.scheduler = scheduler
    }

    // MARK: - Faults

    /// Cuts a client off from a broker, in one direction or both.
    ///
    /// Messages sent meanwhile are lost without breaking a connection: the client notices when its request times out.
    package func cut(_ client: String, from broker: Int32, _ directions: [Direction] = Direction.allCases) {
        for direction in directions { cuts.insert(Line(client: client, broker: broker, direction: direction)) }
    }

    package func mend(_ client: String, and broker: Int32) {
        for direction in Direction.allCases {
            cuts.remove(Line(client: client, broker: broker, direction: direction))
        }
    }

    /// Holds back messages between a client and a broker for a while. They arrive afterwards, because TCP retransmits lost packets.
    package func hold(_ client: String, and broker: Int32, _ directions: [Direction], until end: Int64) {
        for direction in directions {
            held[Line(client: client, broker: broker, direction: direction), default: 0].raise(to: end)
        }
    }

    /// Freezes a client, as SIGSTOP does: it sends nothing, reads nothing, and its timers wait.
    package func freeze(_ client: String, until end: Int64) {
        frozen[client, default: 0].raise(to: end)
        for broker in 1...cluster.rules.brokers { hold(client, and: broker, [.answers], until: end) }
    }

    /// Ends all delays and standstills.
    package func releaseAll() { (held, frozen) = ([:], [:]) }

    /// Returns the time at which a message that is sent now starts to travel.
    func departure(_ client: String, _ broker: Int32, _ direction: Direction) -> Int64 {
        guard !held.isEmpty else { return scheduler.now }
        return max(scheduler.now, held[Line(client: client, broker: broker, direction: direction)] ?? 0)
    }

    /// Runs a client's function later, and not while the client stands still.
    func schedule(after delay: Int64, of client: String, _ action: @escaping () -> Void) {
        scheduler.schedule(after: delay) { [self] in
            guard let end = frozen[client], end > scheduler.now else { return action() }
            schedule(after: end - scheduler.now, of: client, action)
        }
    }

    /// Stops a broker and breaks the connections to it.
    package func stop(_ broker: Int32) {
        reach { $0.setBroker(broker, isUp: false) }
        stops[broker, default: 0] += 1
        for (id, peer) in inOrder where id.broker == broker { breakDown(peer) }
    }

    package func start(_ broker: Int32) { reach { $0.setBroker(broker, isUp: true) } }

    /// Breaks a client's connections, as when its process ends. Requests in flight may still take effect.
    package func disconnect(_ client: String) {
        for (id, peer) in inOrder where id.client == client { breakDown(peer) }
    }

    /// The connections in an order that is the same in every run.
    private var inOrder: [(PeerID, Peer)] {
        peers.sorted { ($0.key.client, $0.key.broker, $0.key.channel) < ($1.key.client, $1.key.broker, $1.key.channel) }
            .map { ($0.key, $0.value) }
    }

    /// Drops the connections and all data of the cluster. Call it after a simulation whose killed clients may hold the network forever.
    package func forgetEverything() {
        cluster.forgetEverything()
        peers = [:]
    }

    /// Accesses the cluster at the present time, and schedules its next event.
    package func reach<Value>(_ body: (SimulatedCluster) -> Value) -> Value {
        cluster.advance(to: scheduler.now, pastDeadline: clusterDeadline ?? .max <= scheduler.now)
        defer { watchCluster() }
        return body(cluster)
    }

    private func watchCluster() {
        clusterDeadline = cluster.nextDeadline
        guard let next = clusterDeadline, next < clusterWakeUp ?? .max else { return }
        clusterWakeUp = next
        scheduler.schedule(at: max(next, scheduler.now)) { [self] in
            guard clusterWakeUp == next else { return }
            clusterWakeUp = nil
            reach { _ in }
        }
    }

    // MARK: - Connections

    /// Returns the connection to a broker. Starts to connect if there is none.
    private func connection(of peer: Peer, client: String, to broker: Int32) -> Connection {
        if let connection = peer.connection { return connection }

        let connection = Connection(of: client, opensAt: peer.connect(at: scheduler.now, jitter: backoffJitter()))
        peer.connection = connection
        if connection.opensAt > scheduler.now || !cluster.isUp(broker) {
            scheduler.schedule(at: connection.opensAt) { [self] in
                if !cluster.isUp(broker) { breakDown(peer, connection) }
            }
        }
        return connection
    }

    /// Returns a client's peer object for a broker.
    func peer(_ broker: Int32, of client: String, on channel: Channel) -> Peer {
        let id = PeerID(client: client, broker: broker, channel: channel)
        if let known = peers[id] { return known }
        let peer = Peer()
        peers[id] = peer
        return peer
    }

    private func breakDown(_ peer: Peer) {
        if let connection = peer.connection { breakDown(peer, connection) }
    }

    private func breakDown(_ peer: Peer, _ connection: Connection) {
        guard !connection.isBroken else { return }
        connection.isBroken = true
        if peer.connection === connection { peer.connection = nil }
        connection.waiting = []
        connection.answers = []
        let unanswered = connection.unanswered
        connection.unanswered = []
        guard !unanswered.isEmpty else { return }
        schedule(after: ClusterRules.millisecond, of: connection.client) {
            for request in unanswered { request.fail(.disconnected) }
        }
    }

    /// Marks a message as lost, so that nothing more passes in its direction.
    func lose(_ direction: Direction, of connection: Connection, _ peer: Peer, noticedAfter delay: Int64) {
        guard connection.lost.insert(direction).inserted else { return }
        scheduler.schedule(after: delay) { [self] in breakDown(peer, connection) }
    }

    // MARK: - Requests

    /// Sends a request.
    /// - Parameters:
    ///   - perform: Carries out the request at the broker; must call back once, now or later.
    ///   - reply: Called once, with the answer or the reason why there is none.
    package func send<Answer>(
        _ kind: RequestKind, from client: String, to broker: Int32, on channel: Channel = .broker,
        within timeout: Int64, perform: @escaping (SimulatedCluster, @escaping (Answer) -> Void) -> Void,
        reply: @escaping (Result<Answer, NetworkFailure>) -> Void
    ) {
        send(
            kind, from: client, to: broker, as: peer(broker, of: client, on: channel), within: timeout,
            perform: perform, reply: reply)
    }

    /// - Parameter peer: the client's peer object for the broker.
    func send<Answer>(
        _ kind: RequestKind, from client: String, to broker: Int32, as peer: Peer, within timeout: Int64,
        perform: @escaping (SimulatedCluster, @escaping (Answer) -> Void) -> Void,
        reply: @escaping (Result<Answer, NetworkFailure>) -> Void
    ) {
        let connection = connection(of: peer, client: client, to: broker)
        let deadline = scheduler.now + timeout
        checkTimes(of: connection, peer, of: client, at: deadline)

        connection.lastNumber += 1
        let exchange = Exchange(
            self, peer, connection, number: connection.lastNumber, deadline: deadline, of: client, with: broker,
            fate: fate(Message(client: client, broker: broker, kind: kind)),
            carryOut: { cluster, exchange in
                perform(cluster) { answer in exchange.take { reply(.success(answer)) } }
            },
            onFailure: { reply(.failure($0)) })
        connection.unanswered.append(exchange)
        exchange.send()
    }

    /// True if no message in a direction arrives.
    func isCut(_ client: String, from broker: Int32, _ direction: Direction) -> Bool {
        cuts.contains(Line(client: client, broker: broker, direction: direction))
    }

    /// Schedules a check of deadlines, one for all requests of a connection.
    ///
    /// Nearly all requests are answered long before, and separate checks would outlast them by a minute.
    private func checkTimes(of connection: Connection, _ peer: Peer, of client: String, at time: Int64) {
        guard time < connection.nextCheck ?? .max else { return }
        connection.nextCheck = time
        schedule(after: time - scheduler.now, of: client) { [self] in
            guard connection.nextCheck == time else { return }
            connection.nextCheck = nil

            let late = connection.unanswered.filter { $0.deadline <= scheduler.now }
            for request in late { request.fail(.timedOut) }
            // `socket.max.fails`: one request without an answer breaks the connection.
            if !late.isEmpty, scheduler.now > connection.opensAt { breakDown(peer, connection) }
            if let next = connection.unanswered.map(\.deadline).min() {
                checkTimes(of: connection, peer, of: client, at: next)
            }
        }
    }
}

extension Int64 {
    fileprivate mutating func raise(to other: Int64) { self = Swift.max(self, other) }
}
