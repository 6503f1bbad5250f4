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

/// Carries requests to the cluster and answers back: late, twice or never, as the simulation's hooks decide.
///
/// Requests on one connection arrive in the order in which they were sent, and so do answers; a broker begins one when it has answered the
/// one before, as Kafka's brokers do. So a commit behind a JoinGroup waits as long as that. Each client has one connection to
/// each broker, and another one to the group's coordinator.
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
        /// When the same request arrives once more, after it arrived first; `nil`: it does not.
        package var repetition: Int64?

        package init(requestDelay: Int64?, answerDelay: Int64?, repetition: Int64? = nil) {
            self.requestDelay = requestDelay
            self.answerDelay = answerDelay
            self.repetition = repetition
        }
    }

    package enum Channel: Hashable, Sendable {
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

    private struct ConnectionID: Hashable {
        let client: String
        let broker: Int32
        let channel: Channel
    }

    private final class Connection {
        var lastArrival: Int64 = 0
        var lastAnswer: Int64 = 0
        var isBusy = false
        var waiting: [() -> Void] = []
        /// Counts the times that the connection broke. What was under way before is lost.
        var breaks = 0
        /// Requests that have no answer yet, in the order in which they were sent: each is told when the connection breaks.
        var unanswered: [(number: Int, fail: () -> Void)] = []
        var lastNumber = 0
    }

    package let cluster: SimulatedCluster
    package let scheduler: any SimulatedScheduler
    /// Decides what becomes of each request. By default each way takes half a millisecond.
    package var fate: (Message) -> Fate = { _ in
        Fate(requestDelay: ClusterRules.millisecond / 2, answerDelay: ClusterRules.millisecond / 2)
    }
    private var cuts: Set<Line> = []
    private var connections: [ConnectionID: Connection] = [:]
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

    /// Stops a broker: connections to it break.
    package func stop(_ broker: Int32) {
        reach { $0.setBroker(broker, isUp: false) }
        for (id, connection) in connections where id.broker == broker { breakDown(connection) }
    }

    package func start(_ broker: Int32) { reach { $0.setBroker(broker, isUp: true) } }

    /// Breaks a client's connections, as when its process dies: what is under way may still take effect.
    package func disconnect(_ client: String) {
        for (id, connection) in connections where id.client == client { breakDown(connection) }
    }

    private func breakDown(_ connection: Connection) {
        connection.breaks += 1
        connection.isBusy = false
        connection.lastAnswer = 0
        connection.waiting = []
        let unanswered = connection.unanswered
        connection.unanswered = []
        scheduler.schedule(after: ClusterRules.millisecond) {
            for request in unanswered { request.fail() }
        }
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
        let id = ConnectionID(client: client, broker: broker, channel: channel)
        let connection = connections[id] ?? Connection()
        connections[id] = connection

        connection.lastNumber += 1
        let number = connection.lastNumber
        // Let go of when it is over: the timeout below is there for long after that.
        var waiting: ((Result<Answer, NetworkFailure>) -> Void)? = reply
        let finish = { (result: Result<Answer, NetworkFailure>) in
            guard let reply = waiting else { return }
            waiting = nil
            connection.unanswered.removeAll { $0.number == number }
            reply(result)
        }
        connection.unanswered.append((number, { finish(.failure(.disconnected)) }))
        scheduler.schedule(after: timeout) { finish(.failure(.timedOut)) }

        let fate = fate(Message(client: client, broker: broker, kind: kind))
        guard let delay = fate.requestDelay, cluster.isUp(broker) else {
            return scheduler.schedule(after: ClusterRules.millisecond) { finish(.failure(.disconnected)) }
        }
        guard !cuts.contains(Line(client: client, broker: broker, direction: .requests)) else { return }

        let arrival = max(connection.lastArrival + 1, scheduler.now + delay)
        connection.lastArrival = arrival
        let breaks = connection.breaks
        scheduler.schedule(at: arrival) { [self] in
            guard cluster.isUp(broker) else { return finish(.failure(.disconnected)) }
            guard connection.breaks == breaks else {
                // The client has hung up, and the broker reads what was sent before.
                return reach { perform($0) { _ in } }
            }
            begin(on: connection) { [self] in
                var isAnswered = false
                let take = { [self] (answer: Answer) in
                    guard !isAnswered else { return }
                    isAnswered = true
                    // Begun in a turn of its own: the cluster may be in the midst of a change.
                    scheduler.schedule(after: 0) { [self] in
                        if connection.breaks == breaks { endOne(on: connection) }
                    }
                    carry(answer, to: client, from: broker, fate, connection, breaks, finish)
                }
                reach { perform($0, take) }
            }
        }
        if let repetition = fate.repetition {
            scheduler.schedule(at: arrival + repetition) { [self] in
                if cluster.isUp(broker) { reach { perform($0) { _ in } } }
            }
        }
    }

    private func carry<Answer>(
        _ answer: Answer, to client: String, from broker: Int32, _ fate: Fate, _ connection: Connection,
        _ breaks: Int, _ finish: @escaping (Result<Answer, NetworkFailure>) -> Void
    ) {
        guard !cuts.contains(Line(client: client, broker: broker, direction: .answers)) else { return }
        // Answers arrive in the order in which they were sent, as all that one connection carries.
        // Schedulers may run what falls due at one time in any order.
        let arrival = max(connection.lastAnswer + 1, scheduler.now + (fate.answerDelay ?? ClusterRules.millisecond))
        connection.lastAnswer = arrival
        scheduler.schedule(at: arrival) {
            guard fate.answerDelay != nil, connection.breaks == breaks else {
                return finish(.failure(.disconnected))
            }
            finish(.success(answer))
        }
    }

    private func begin(on connection: Connection, _ work: @escaping () -> Void) {
        if connection.isBusy {
            connection.waiting.append(work)
        } else {
            connection.isBusy = true
            work()
        }
    }

    private func endOne(on connection: Connection) {
        guard !connection.waiting.isEmpty else {
            connection.isBusy = false
            return
        }
        connection.waiting.removeFirst()()
    }
}
