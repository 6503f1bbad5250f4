import Basics
import Kafka
import SimulatedKafka
import SimulatedKafkaClients
import TestSupport

/// Records a consumer's events, and answers at once unless a test holds the answers.
final class RebalanceRecorder: SimulatedRebalanceHandler {
    var events: [String] = []
    var isHolding = false
    var held: [() -> Void] = []
    var onRevoke: ([AssignedPartition]) -> Void = { _ in }
    var missed: Int64 = 0

    private func note(_ kind: String, _ partitions: [AssignedPartition], _ then: @escaping () -> Void) {
        events.append("\(kind) \(partitions.map(\.id.partition).sorted())")
        if isHolding { held.append(then) } else { then() }
    }

    func assigned(_ partitions: [AssignedPartition], then: @escaping () -> Void) { note("assigned", partitions, then) }
    func willRead(from committed: [AssignedPartition: CommittedOffset], then: @escaping () -> Void) { then() }
    func revoked(_ partitions: [AssignedPartition], then: @escaping () -> Void) {
        onRevoke(partitions)
        note("revoked", partitions, then)
    }
    func lost(_ partitions: [AssignedPartition], then: @escaping () -> Void) { note("lost", partitions, then) }
    func answered(_ kind: RebalanceKind, after time: Int64) {}
    func missed(_ offsets: Range<Int64>, of partition: TopicPartition) { missed += Int64(offsets.count) }
    func restarted(
        _ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64, then: @escaping () -> Void
    ) {
        note("restarted", [former], then)
    }

    func release() {
        isHolding = false
        let waiting = held
        held = []
        for then in waiting { then() }
    }
}

/// Virtual time in nanoseconds since its beginning.
final class ClientScheduler: SimulatedScheduler {
    private let time = VirtualTime()

    var now: Int64 { time.elapsed.wholeNanoseconds }

    func schedule(at due: Int64, _ action: @escaping () -> Void) {
        time.schedule(at: time.start + .nanoseconds(due), action: action)
    }

    /// Runs until a condition holds.
    /// - Returns: `false` if it did not hold by `end`.
    @discardableResult
    func run(until end: Int64, _ condition: () -> Bool = { false }) -> Bool {
        time.run(for: .nanoseconds(end - now), until: condition)
    }
}

/// A cluster, a network and the clients of a test.
final class ClientFixture {
    let cluster: SimulatedCluster
    let scheduler = ClientScheduler()
    let network: SimulatedNetwork
    /// Keeps clients and their handlers alive as long as the test.
    private var alive: [AnyObject] = []

    init(partitions: Int32 = 2, _ change: (inout ClusterRules) -> Void = { _ in }) {
        var rules = ClusterRules()
        change(&rules)
        cluster = SimulatedCluster(rules: rules)
        network = SimulatedNetwork(cluster: cluster, scheduler: scheduler)
        _ = cluster.createTopic(CreateTopicRequest("requests", TopicSettings(partitions: partitions)))
        _ = cluster.createTopic(CreateTopicRequest("results", TopicSettings(partitions: 1)))
    }

    func pass(_ time: Int64) { scheduler.run(until: scheduler.now + time) }

    func consumer(
        _ id: String, _ change: (inout SimulatedConsumerSettings) -> Void = { _ in }
    ) -> (SimulatedConsumer, RebalanceRecorder) {
        var settings = SimulatedConsumerSettings(group: "workers")
        settings.sessionTimeout = .seconds(6)
        change(&settings)
        let consumer = SimulatedConsumer(settings, clientID: id, network: network)
        let recorder = RebalanceRecorder()
        alive += [consumer, recorder]
        consumer.subscribe(to: ["requests"], handler: recorder)
        return (consumer, recorder)
    }

    /// Sends a request to the first broker.
    /// - Parameter answer: the broker's answer; `nil`: it never answers.
    func send(
        _ kind: RequestKind = .heartbeat, from client: String = "client", within timeout: Int64 = .seconds(60),
        answer: Int?, arrived: @escaping () -> Void = {}, reply: @escaping (Result<Int, NetworkFailure>) -> Void
    ) {
        let perform = { (_: SimulatedCluster, respond: @escaping (Int) -> Void) in
            arrived()
            if let answer { respond(answer) }
        }
        network.send(kind, from: client, to: 1, within: timeout, perform: perform, reply: reply)
    }

    func producer(_ id: String, _ change: (inout SimulatedProducerSettings) -> Void = { _ in }) -> SimulatedProducer {
        var settings = SimulatedProducerSettings()
        change(&settings)
        return SimulatedProducer(settings, clientID: id, network: network)
    }

    func append(_ values: [String], to number: Int32 = 0) {
        let batch = ProduceRequest.Batch(
            PartitionID("requests", number), values.map { SimulatedRecord(value: Array($0.utf8)) })
        network.reach { _ = $0.produce(ProduceRequest([batch])) }
    }

    /// Writes a record to the first partition in one transaction after another, and ends each with the given result.
    func appendInTransactions(_ results: [TransactionResult]) {
        let identity = cluster.initProducerID(InitProducerIDRequest("tx")).producer
        let (name, partition) = (TransactionName("tx", identity), PartitionID("requests", 0))
        for (sequence, result) in results.enumerated() {
            _ = cluster.addPartitionsToTxn(AddPartitionsToTxnRequest(name, [partition]))
            let batch = ProduceRequest.Batch(
                partition, [SimulatedRecord(value: Array("\(result)".utf8))], producer: identity,
                baseSequence: Int32(sequence), isTransactional: true)
            _ = cluster.produce(ProduceRequest([batch], transactionalID: "tx"))
            _ = cluster.endTxn(EndTxnRequest(name, result))
            network.reach { _ in }
            pass(.milliseconds(10))
        }
    }

    /// Deletes the requests topic, and recreates it at once, with some records in its first partition.
    func remakeTopic(with values: [String] = []) {
        network.reach { cluster in
            _ = cluster.deleteTopic(DeleteTopicRequest("requests"))
            _ = cluster.createTopic(CreateTopicRequest("requests", TopicSettings(partitions: 2)))
            guard !values.isEmpty else { return }
            let records = values.map { SimulatedRecord(value: Array($0.utf8)) }
            _ = cluster.produce(ProduceRequest([ProduceRequest.Batch(PartitionID("requests", 0), records)]))
        }
    }

    /// The values in the results topic that a reader of committed records sees.
    var results: [String] {
        let entries = cluster.log(of: PartitionID("results", 0))?.committed ?? []
        return entries.map { String(decoding: $0.record.value ?? [], as: UTF8.self) }
    }

    /// Runs until a call has called back, for a minute at most.
    func wait<Value>(_ call: (@escaping (Value) -> Void) -> Void) -> Value? {
        let box = Box<Value>()
        call { box.value = $0 }
        _ = scheduler.run(until: scheduler.now + .seconds(60)) { box.value != nil }
        return box.value
    }

    /// Runs a call about a transaction; `nil` for its success.
    func call(_ body: (@escaping (KafkaError?) -> Void) -> Void) -> KafkaError? {
        let answer: Result<Void, KafkaError>? = wait { done in
            body { error in done(error.map { .failure($0) } ?? .success(())) }
        }
        guard case .success? = answer else {
            if case .failure(let error)? = answer { return error }
            return KafkaError(.other, "the call has not called back")
        }
        return nil
    }
}

extension Result {
    /// `nil` for a success.
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

func values(_ records: [ConsumerRecord]) -> [String] {
    records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
}
