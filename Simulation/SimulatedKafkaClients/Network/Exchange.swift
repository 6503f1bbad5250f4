internal import SimulatedKafka

/// A request and its answer on their way between a client and a broker.
///
/// The answer is stored as a function that delivers it. A generic type would look up its members by name at each step.
final class Exchange {
    /// A struct, because an optional of a plain function would be wrapped in another function.
    private struct Answer {
        let handOver: () -> Void
    }

    private let network: SimulatedNetwork
    private let peer: Peer
    private let connection: Connection
    /// The number of the request on its connection.
    let number: Int
    /// The time at which the client stops waiting.
    let deadline: Int64
    private let client: String
    private let broker: Int32
    private let fate: SimulatedNetwork.Fate
    /// The number of times that the broker had been stopped when the request was made.
    private let stopsBefore: Int?
    private let carryOut: (SimulatedCluster, Exchange) -> Void
    private let onFailure: (NetworkFailure) -> Void
    /// True once the result was delivered to the client.
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

    /// Sends the request, unless it is lost.
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

    /// Lets the broker read the request.
    ///
    /// Requests sent before the connection broke are read as well, unless the broker is still busy with an earlier one. In that case
    /// it notices the broken connection first.
    private func arrive() {
        guard cluster.isUp(broker), network.stops[broker] == stopsBefore else { return }
        if !connection.isBusy {
            connection.isBusy = true
            perform()
        } else if !connection.isBroken {
            connection.waiting.append(self)
        }
    }

    /// Lets the broker carry out the request.
    func perform() {
        network.reach { carryOut($0, self) }
    }

    // MARK: - The answer

    /// Takes the broker's answer, as a function that delivers it to the client.
    func take(_ handOver: @escaping () -> Void) {
        guard answer == nil else { return }
        answer = Answer(handOver: handOver)
        // Scheduled as a separate event, because the cluster may be in the middle of a change.
        scheduler.schedule(after: 0) { [connection] in connection.readNext() }
        carryBack()
    }

    private func carryBack() {
        guard !connection.isBroken, !connection.lost.contains(.answers), !network.isCut(client, from: broker, .answers)
        else { return }
        guard let delay = fate.answerDelay else {
            return network.lose(.answers, of: connection, peer, noticedAfter: fate.noticedAfter)
        }

        // Answers on one connection arrive in the order in which they were sent. Schedulers may run events
        // that are due at the same time in any order.
        connection.lastAnswer = max(
            connection.lastAnswer + 1, network.departure(client, broker, .answers) + delay)
        connection.answers.append(self)
        network.schedule(after: connection.lastAnswer - scheduler.now, of: client) { [connection] in
            // After a client's standstill, several answers arrive at the same time, but in order.
            guard !connection.isBroken, !connection.answers.isEmpty else { return }
            connection.answers.removeFirst().deliver()
        }
    }

    /// Delivers the answer to the client.
    func deliver() {
        if let answer, end() { answer.handOver() }
    }

    /// Reports to the client why there is no answer.
    func fail(_ failure: NetworkFailure) {
        if end() { onFailure(failure) }
    }

    /// - Returns: `false` if a result was already delivered.
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
    /// Lets the broker go on with the next request.
    fileprivate func readNext() {
        isBusy = false
        guard !waiting.isEmpty else { return }
        isBusy = true
        waiting.removeFirst().perform()
    }
}
