internal import Kafka
internal import SimulatedKafka

/// A librdkafka client's view of the cluster: leaders, partition counts, coordinators. All of it may be out of date.
final class ClientLink {
    /// `socket.timeout.ms`.
    static let requestTimeout: Int64 = 60 * ClusterRules.second
    /// `retry.backoff.ms`.
    static let backoff: Int64 = 100 * ClusterRules.millisecond

    let id: String
    let network: SimulatedNetwork
    private(set) var leaders: [PartitionID: (broker: Int32, epoch: Int32)] = [:]
    private(set) var partitionCounts: [String: Int32] = [:]
    private var coordinators: [FindCoordinatorRequest.Key: Int32] = [:]
    private var firstBroker: Int32 = 0
    /// The brokers that did not answer the last request.
    private var silentBrokers: Set<Int32> = []
    /// The network's peer objects, cached because each request needs one.
    private var peers: [(channel: SimulatedNetwork.Channel, broker: Int32, peer: Peer)] = []
    var isClosed = false

    init(id: String, network: SimulatedNetwork) {
        self.id = id
        self.network = network
    }

    var now: Int64 { network.scheduler.now }
    /// True while no broker answers.
    var brokersAreDown: Bool { silentBrokers.count >= Int(network.cluster.rules.brokers) }

    func after(_ delay: Int64, _ body: @escaping () -> Void) {
        network.schedule(after: delay, of: id) { [weak self] in
            if self?.isClosed == false { body() }
        }
    }

    // MARK: - Requests

    func ask<Answer>(
        _ kind: RequestKind, _ broker: Int32, on channel: SimulatedNetwork.Channel = .broker,
        within timeout: Int64 = requestTimeout,
        _ perform: @escaping (SimulatedCluster, @escaping (Answer) -> Void) -> Void,
        reply: @escaping (Result<Answer, NetworkFailure>) -> Void
    ) {
        let peer = peer(broker, on: channel)
        network.send(kind, from: id, to: broker, as: peer, within: timeout, perform: perform) { [weak self] result in
            guard let self, !isClosed else { return }
            switch result {
            case .success: silentBrokers.remove(broker)
            case .failure: silentBrokers.insert(broker)
            }
            reply(result)
        }
    }

    private func peer(_ broker: Int32, on channel: SimulatedNetwork.Channel) -> Peer {
        if let known = peers.first(where: { $0.broker == broker && $0.channel == channel }) { return known.peer }
        let peer = network.peer(broker, of: id, on: channel)
        peers.append((channel, broker, peer))
        return peer
    }

    /// Returns a broker for metadata requests: one with a connection, if there is any.
    private func anyBroker() -> Int32 {
        let count = network.cluster.rules.brokers
        for _ in 0..<count {
            firstBroker = firstBroker % count + 1
            if !silentBrokers.contains(firstBroker) { return firstBroker }
        }
        firstBroker = firstBroker % count + 1
        return firstBroker
    }

    /// Requests the topics' leaders. Always calls back.
    func refresh(_ topics: [String], within timeout: Int64 = 5 * ClusterRules.second, then: @escaping (Bool) -> Void) {
        let request = MetadataRequest(topics)
        ask(.metadata, anyBroker(), within: timeout, { $1($0.metadata(request)) }) {
            [self] (result: Result<MetadataResponse, NetworkFailure>) in
            guard case .success(let answer) = result else { return then(false) }
            for topic in answer.topics {
                partitionCounts[topic.name] = topic.error == .none ? Int32(topic.partitions.count) : nil
                for key in leaders.keys where key.topic == topic.name { leaders[key] = nil }
                for partition in topic.partitions where partition.leader >= 0 {
                    leaders[PartitionID(topic.name, partition.partition)] = (partition.leader, partition.leaderEpoch)
                }
            }
            then(true)
        }
    }

    func forgetLeader(of partition: PartitionID) { leaders[partition] = nil }

    // MARK: - Coordinators

    /// Sends a request to a coordinator. Looks the coordinator up if it is unknown, and again after NOT_COORDINATOR.
    /// - Parameter isOver: returns true once the request is obsolete. It is then not sent, even after a long look-up.
    func askCoordinator<Answer>(
        _ key: FindCoordinatorRequest.Key, _ kind: RequestKind, within timeout: Int64 = requestTimeout,
        unless isOver: @escaping () -> Bool = { false }, error: @escaping (Answer) -> ErrorCode,
        _ perform: @escaping (SimulatedCluster, Int32, @escaping (Answer) -> Void) -> Void,
        reply: @escaping (Result<Answer, ClientFailure>) -> Void
    ) {
        guard let broker = coordinators[key] else {
            return find(key, within: timeout) { [self] found in
                guard found, !isOver() else { return reply(.failure(.noCoordinator)) }
                askCoordinator(key, kind, within: timeout, unless: isOver, error: error, perform, reply: reply)
            }
        }

        ask(kind, broker, on: .coordinator, within: timeout, { perform($0, broker, $1) }) {
            [self] (result: Result<Answer, NetworkFailure>) in
            switch result {
            case .failure(let failure):
                coordinators[key] = nil
                reply(.failure(.network(failure)))
            case .success(let answer):
                let code = error(answer)
                if code == .notCoordinator || code == .coordinatorNotAvailable { coordinators[key] = nil }
                reply(code == .none ? .success(answer) : .failure(.code(code)))
            }
        }
    }

    private func find(
        _ key: FindCoordinatorRequest.Key, within timeout: Int64, then: @escaping (Bool) -> Void
    ) {
        let request = FindCoordinatorRequest(key)
        let bound = min(timeout, 5 * ClusterRules.second)
        ask(.findCoordinator, anyBroker(), within: bound, { $1($0.findCoordinator(request)) }) {
            [self] (result: Result<FindCoordinatorResponse, NetworkFailure>) in
            if case .success(let answer) = result, answer.error == .none { coordinators[key] = answer.broker }
            then(coordinators[key] != nil)
        }
    }
}

/// The error of a request to a coordinator.
enum ClientFailure: Error, Hashable {
    case noCoordinator
    case network(NetworkFailure)
    case code(ErrorCode)

    /// librdkafka's number of the error.
    var number: Int32 {
        switch self {
        case .noCoordinator: LibraryCode.waitCoordinator
        case .network(.disconnected): LibraryCode.transport
        case .network(.timedOut): LibraryCode.timedOut
        case .code(let code): Int32(code.rawValue)
        }
    }

    /// True if the same request may succeed once the coordinator is found, loaded, or free.
    var mayPass: Bool {
        switch self {
        case .noCoordinator, .network: true
        case .code(let code):
            switch code {
            case .notCoordinator, .coordinatorNotAvailable, .coordinatorLoadInProgress, .concurrentTransactions,
                .requestTimedOut:
                true
            default: false
            }
        }
    }

    func error(doing what: String) -> KafkaError { KafkaError(librdkafkaCode: number, doing: what) }
}

/// The codes of librdkafka's own errors.
enum LibraryCode {
    static let (transport, timedOut, messageTimedOut): (Int32, Int32, Int32) = (-195, -185, -192)
    static let (waitCoordinator, fatal, fenced): (Int32, Int32, Int32) = (-180, -150, -144)
    static let (queueFull, state, purgedQueue, purgedInFlight): (Int32, Int32, Int32, Int32) = (-184, -172, -152, -151)
    static let (unknownTopic, unknownPartition): (Int32, Int32) = (-188, -190)
    static let autoOffsetReset: Int32 = -140
}
