internal import SimulatedKafka

/// One request and its answer, on their ways between a client and a broker.
///
/// It knows the answer as a function that hands it over. A type with a parameter for the answer would look its own parts up by name
/// at each step.
final class Exchange {
    /// A type of its own, because an optional of a plain function would wrap it in another one.
    private struct Answer {
        let handOver: () -> Void
    }

    private let network: SimulatedNetwork
    private let peer: Peer
    private let connection: Connection
    /// Counts the requests of the connection.
    let number: Int
    /// When the client stops waiting.
    let deadline: Int64
    private let client: String
    private let broker: Int32
    private let fate: SimulatedNetwork.Fate
    /// How often the broker had been stopped when the request was made.
    private let stopsBefore: Int?
    private let carryOut: (SimulatedCluster, Exchange) -> Void
    private let onFailure: (NetworkFailure) -> Void
    /// True once the client was told.
    private var isOver = false
    /// `nil` until the broker has answered.
    private var answer: Answer?

    init(
        _ network: SimulatedNetwork, _ peer: Peer, _ connection: Connection, number: Int, deadline: Int64,
        of client: String, with broker: Int32, fate: SimulatedNetwork.Fate,
        carryOut: @escaping (SimulatedCluster, Exchange) -> Void,
        onFailure: @escaping (NetworkFailure) -> Void
    ) {
        self.network = network
        self.peer = peer
        self.connection = connection
        self.number = number
        self.deadline = deadline
        self.client = client
        self.broker = broker
        self.fate = fate
        self.carryOut = carryOut
        self.onFailure = onFailure
        stopsBefore = network.stops[broker]
    }

    private var scheduler: any SimulatedScheduler { network.scheduler }
    private var cluster: SimulatedCluster { network.cluster }

    // MARK: - The request

    /// Puts the request on its way, unless it is lost.
    func send() {
        guard cluster.isUp(broker) || connection.opensAt > scheduler.now else { return }
        guard let delay = fate.requestDelay else {
            return network.lose(.requests, of: connection, peer, noticedAfter: fate.noticedAfter)
        }
        guard !network.isCut(client, from: broker, .requests), !connection.lost.contains(.requests) else { return }

        let departure = max(network.departure(client, broker, .requests), connection.opensAt)
        connection.lastArrival = max(connection.lastArrival + 1, departure + delay)
        scheduler.schedule(at: connection.lastArrival) { [self] in arrive() }
    }

    /// Has the broker read the request. What a client sent before its connection broke is read as well, unless the broker waits
    /// with the answer to an earlier one: then it learns first that the connection is gone.
    private func arrive() {
        guard cluster.isUp(broker), network.stops[broker] == stopsBefore else { return }
        if !connection.isBusy {
            connection.isBusy = true
            perform()
        } else if !connection.isBroken {
            connection.waiting.append(self)
        }
    }

    /// Has the broker carry the request out.
    func perform() {
        network.reach { carryOut($0, self) }
    }

    // MARK: - The answer

    /// Takes the broker's answer, as a function that hands it to the client.
    func take(_ handOver: @escaping () -> Void) {
        guard answer == nil else { return }
        answer = Answer(handOver: handOver)
        // Begun in a turn of its own: the cluster may be in the midst of a change.
        scheduler.schedule(after: 0) { [connection] in connection.readNext() }
        carryBack()
    }

    private func carryBack() {
        guard !connection.isBroken, !connection.lost.contains(.answers), !network.isCut(client, from: broker, .answers)
        else { return }
        guard let delay = fate.answerDelay else {
            return network.lose(.answers, of: connection, peer, noticedAfter: fate.noticedAfter)
        }

        // Answers arrive in the order in which they were sent, as all that one connection carries.
        // Schedulers may run what falls due at one time in any order.
        connection.lastAnswer = max(
            connection.lastAnswer + 1, network.departure(client, broker, .answers) + delay)
        connection.answers.append(self)
        network.schedule(after: connection.lastAnswer - scheduler.now, of: client) { [connection] in
            // Where a client has stood still, several arrive at one time, and yet in their order.
            guard !connection.isBroken, !connection.answers.isEmpty else { return }
            connection.answers.removeFirst().deliver()
        }
    }

    /// Hands the answer to the client.
    func deliver() {
        if let answer, end() { answer.handOver() }
    }

    /// Tells the client why there is no answer.
    func fail(_ failure: NetworkFailure) {
        if end() { onFailure(failure) }
    }

    /// - Returns: `false` where the client was told already.
    private func end() -> Bool {
        guard !isOver else { return false }
        isOver = true
        if let index = connection.unanswered.firstIndex(where: { $0.number == number }) {
            connection.unanswered.remove(at: index)
        }
        return true
    }
}

extension Connection {
    /// Has the broker go on with the request behind the one that it has answered.
    fileprivate func readNext() {
        isBusy = false
        guard !waiting.isEmpty else { return }
        isBusy = true
        waiting.removeFirst().perform()
    }
}
