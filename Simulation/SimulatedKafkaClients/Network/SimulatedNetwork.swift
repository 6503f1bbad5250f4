package import SimulatedKafka

/// The kinds of requests that clients send.
package enum RequestKind: Hashable, Sendable, CaseIterable {
    case metadata, findCoordinator, produce, fetch, listOffsets, offsetCommit, offsetFetch
    case joinGroup, syncGroup, heartbeat, leaveGroup, consumerGroupHeartbeat
    case initProducerID, addPartitionsToTxn, addOffsetsToTxn, txnOffsetCommit, endTxn
}

/// Why a request has no answer.
package enum NetworkFailure: Error, Hashable, Sendable {
    /// The connection broke. The request may have been carried out.
    case disconnected
    /// No answer came within the request's time. The request may have been carried out, or may be yet.
    case timedOut
}

/// Carries requests to the cluster and answers back: late or never, as the simulation's hooks decide.
///
/// Requests on one connection arrive in the order in which they were sent, and so do answers; a broker begins one when it has answered the
/// one before, as Kafka's brokers do. So a commit behind a JoinGroup waits as long as that. Each client has one connection to
/// each broker, and another one to the group's coordinator.
///
/// A message that is lost takes its connection with it, as with TCP: whatever follows it in its direction is lost as well, until
/// the client finds out. Then every request without an answer fails, and the client connects anew, at growing intervals.
package final class SimulatedNetwork {
    /// One request, as hooks see it.
    package struct Message: Hashable, Sendable {
        package let client: String
        package let broker: Int32
        package let kind: RequestKind
    }

    /// What becomes of one request.
    package struct Fate: Hashable, Sendable {
        /// How long the request travels; `nil`: it is lost, and with it the connection.
        package var requestDelay: Int64?
        /// How long the answer travels; `nil`: it is lost, and with it the connection. The request takes effect.
        package var answerDelay: Int64?
        /// When the client finds out that the connection is broken, after the message was lost.
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
    /// Decides what becomes of each request. By default each way takes half a millisecond.
    package var fate: (Message) -> Fate = { _ in
        Fate(requestDelay: ClusterRules.millisecond / 2, answerDelay: ClusterRules.millisecond / 2)
    }
    /// Returns a number between -0.25 and 0.5, by which part the time before another attempt to connect is longer.
    package var backoffJitter: () -> Double = { 0 }
    private var cuts: Set<Line> = []
    /// The lines that carry nothing at present, with the end of that.
    private var held: [Line: Int64] = [:]
    /// The clients whose process stands still, with the end of that.
    private var frozen: [String: Int64] = [:]
    private var peers: [PeerID: Peer] = [:]
    private var clusterWakeUp: Int64?

    package init(cluster: SimulatedCluster, scheduler: any SimulatedScheduler) {
        self.cluster = cluster
        self.scheduler = scheduler
    }

    // MARK: - Faults

    /// Cuts a client off from a broker, in one direction or both. What is sent meanwhile is lost, and no connection breaks:
    /// the client finds out when its request's time is up.
    package func cut(_ client: String, from broker: Int32, _ directions: [Direction] = Direction.allCases) {
        for direction in directions { cuts.insert(Line(client: client, broker: broker, direction: direction)) }
    }

    package func mend(_ client: String, and broker: Int32) {
        for direction in Direction.allCases {
            cuts.remove(Line(client: client, broker: broker, direction: direction))
        }
    }

    /// Has nothing pass between a client and a broker for a while. What is sent meanwhile arrives when that is over, as TCP sends
    /// again what was lost.
    package func hold(_ client: String, and broker: Int32, _ directions: [Direction], until end: Int64) {
        for direction in directions {
            held[Line(client: client, broker: broker, direction: direction), default: 0].raise(to: end)
        }
    }

    /// Has a client stand still, as SIGSTOP does: it sends nothing, reads nothing, and its timers wait.
    package func freeze(_ client: String, until end: Int64) {
        frozen[client, default: 0].raise(to: end)
        for broker in 1...cluster.rules.brokers { hold(client, and: broker, [.answers], until: end) }
    }

    /// Ends everything that holds messages back.
    package func releaseAll() { (held, frozen) = ([:], [:]) }

    /// Returns when a message that is sent now gets onto its way.
    private func departure(_ client: String, _ broker: Int32, _ direction: Direction) -> Int64 {
        guard !held.isEmpty else { return scheduler.now }
        return max(scheduler.now, held[Line(client: client, broker: broker, direction: direction)] ?? 0)
    }

    /// Runs something of a client later, and not while the client stands still.
    func schedule(after delay: Int64, of client: String, _ action: @escaping () -> Void) {
        scheduler.schedule(after: delay) { [self] in
            guard let end = frozen[client], end > scheduler.now else { return action() }
            schedule(after: end - scheduler.now, of: client, action)
        }
    }

    /// Stops a broker: connections to it break.
    package func stop(_ broker: Int32) {
        reach { $0.setBroker(broker, isUp: false) }
        for (id, peer) in inOrder where id.broker == broker { breakDown(peer) }
    }

    package func start(_ broker: Int32) { reach { $0.setBroker(broker, isUp: true) } }

    /// Breaks a client's connections, as when its process dies: what is under way may still take effect.
    package func disconnect(_ client: String) {
        for (id, peer) in inOrder where id.client == client { breakDown(peer) }
    }

    /// The connections in an order that no run changes.
    private var inOrder: [(PeerID, Peer)] {
        peers.sorted { ($0.key.client, $0.key.broker, $0.key.channel) < ($1.key.client, $1.key.broker, $1.key.channel) }
            .map { ($0.key, $0.value) }
    }

    /// Lets the cluster do something at the present time, and sees to what it will do of itself.
    package func reach<Value>(_ body: (SimulatedCluster) -> Value) -> Value {
        cluster.advance(to: scheduler.now)
        defer { watchCluster() }
        return body(cluster)
    }

    private func watchCluster() {
        guard let next = cluster.nextDeadline, next < clusterWakeUp ?? .max else { return }
        clusterWakeUp = next
        scheduler.schedule(at: max(next, scheduler.now)) { [self] in
            guard clusterWakeUp == next else { return }
            clusterWakeUp = nil
            reach { _ in }
        }
    }

    // MARK: - Connections

    /// Returns the connection to a broker, and begins to connect where there is none.
    private func connection(to id: PeerID) -> (Peer, Connection) {
        let peer = peers[id] ?? Peer()
        peers[id] = peer
        if let connection = peer.connection { return (peer, connection) }

        let connection = Connection(of: id.client, opensAt: peer.connect(at: scheduler.now, jitter: backoffJitter()))
        peer.connection = connection
        if connection.opensAt > scheduler.now || !cluster.isUp(id.broker) {
            scheduler.schedule(at: connection.opensAt) { [self] in
                if !cluster.isUp(id.broker) { breakDown(peer, connection) }
            }
        }
        return (peer, connection)
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

    /// Notes that a message was lost, so that nothing more passes in its direction.
    private func lose(_ direction: Direction, of connection: Connection, _ peer: Peer, noticedAfter delay: Int64) {
        guard connection.lost.insert(direction).inserted else { return }
        scheduler.schedule(after: delay) { [self] in breakDown(peer, connection) }
    }

    // MARK: - Requests

    /// Sends a request.
    /// - Parameters:
    ///   - perform: Carries the request out at the broker; must call back once, now or later.
    ///   - reply: Called once, with the answer or why there is none.
    package func send<Answer>(
        _ kind: RequestKind, from client: String, to broker: Int32, on channel: Channel = .broker,
        within timeout: Int64, perform: @escaping (SimulatedCluster, @escaping (Answer) -> Void) -> Void,
        reply: @escaping (Result<Answer, NetworkFailure>) -> Void
    ) {
        let (peer, connection) = connection(to: PeerID(client: client, broker: broker, channel: channel))
        connection.lastNumber += 1
        let number = connection.lastNumber
        var waiting: ((Result<Answer, NetworkFailure>) -> Void)? = reply
        let finish = { (result: Result<Answer, NetworkFailure>) in
            guard let reply = waiting else { return }
            waiting = nil
            if let index = connection.unanswered.firstIndex(where: { $0.number == number }) {
                connection.unanswered.remove(at: index)
            }
            reply(result)
        }
        let deadline = scheduler.now + timeout
        connection.unanswered.append((number, deadline, { finish(.failure($0)) }))
        checkTimes(of: connection, peer, of: client, at: deadline)

        let fate = fate(Message(client: client, broker: broker, kind: kind))
        guard cluster.isUp(broker) || connection.opensAt > scheduler.now else { return }
        guard let delay = fate.requestDelay else {
            return lose(.requests, of: connection, peer, noticedAfter: fate.noticedAfter)
        }
        guard !cuts.contains(Line(client: client, broker: broker, direction: .requests)),
            !connection.lost.contains(.requests)
        else { return }

        let arrival = max(
            connection.lastArrival + 1, max(departure(client, broker, .requests), connection.opensAt) + delay)
        connection.lastArrival = arrival
        let carryBack = { [self] (answer: Answer) in
            carry(answer, to: client, from: broker, fate, peer, connection, finish)
        }
        scheduler.schedule(at: arrival) { [self] in
            arrive(at: broker, on: connection) { [self] in
                var isAnswered = false
                let take = { [self] (answer: Answer) in
                    guard !isAnswered else { return }
                    isAnswered = true
                    // Begun in a turn of its own: the cluster may be in the midst of a change.
                    scheduler.schedule(after: 0) { [self] in endOne(on: connection) }
                    carryBack(answer)
                }
                reach { perform($0, take) }
            }
        }
    }

    /// Plans to look whether the time of a request is up. Once for all requests of a connection: nearly all are answered long before,
    /// and a plan for each would outlast them by a minute.
    private func checkTimes(of connection: Connection, _ peer: Peer, of client: String, at time: Int64) {
        guard time < connection.nextCheck ?? .max else { return }
        connection.nextCheck = time
        schedule(after: time - scheduler.now, of: client) { [self] in
            guard connection.nextCheck == time else { return }
            connection.nextCheck = nil

            let late = connection.unanswered.filter { $0.deadline <= scheduler.now }
            for request in late { request.fail(.timedOut) }
            // `socket.max.fails`: one request without an answer costs the connection.
            if !late.isEmpty, scheduler.now > connection.opensAt { breakDown(peer, connection) }
            if let next = connection.unanswered.map(\.deadline).min() {
                checkTimes(of: connection, peer, of: client, at: next)
            }
        }
    }

    /// Has a broker read a request. What a client sent before its connection broke is read as well, unless the broker waits with
    /// the answer to an earlier one: then it learns first that the connection is gone.
    private func arrive(at broker: Int32, on connection: Connection, _ work: @escaping () -> Void) {
        guard cluster.isUp(broker) else { return }
        if !connection.isBusy {
            connection.isBusy = true
            work()
        } else if !connection.isBroken {
            connection.waiting.append(work)
        }
    }

    private func endOne(on connection: Connection) {
        connection.isBusy = false
        guard !connection.waiting.isEmpty else { return }
        connection.isBusy = true
        connection.waiting.removeFirst()()
    }

    private func carry<Answer>(
        _ answer: Answer, to client: String, from broker: Int32, _ fate: Fate, _ peer: Peer,
        _ connection: Connection, _ finish: @escaping (Result<Answer, NetworkFailure>) -> Void
    ) {
        guard !connection.isBroken, !connection.lost.contains(.answers),
            !cuts.contains(Line(client: client, broker: broker, direction: .answers))
        else { return }
        guard let delay = fate.answerDelay else {
            return lose(.answers, of: connection, peer, noticedAfter: fate.noticedAfter)
        }

        // Answers arrive in the order in which they were sent, as all that one connection carries.
        // Schedulers may run what falls due at one time in any order.
        let arrival = max(connection.lastAnswer + 1, departure(client, broker, .answers) + delay)
        connection.lastAnswer = arrival
        connection.answers.append { finish(.success(answer)) }
        schedule(after: arrival - scheduler.now, of: client) { [connection] in
            // Where a client has stood still, several arrive at one time, and yet in their order.
            guard !connection.isBroken, !connection.answers.isEmpty else { return }
            connection.answers.removeFirst()()
        }
    }
}

extension Int64 {
    fileprivate mutating func raise(to other: Int64) { self = Swift.max(self, other) }
}
