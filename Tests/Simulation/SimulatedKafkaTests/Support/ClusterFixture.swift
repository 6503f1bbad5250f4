import SimulatedKafka

extension Int64 {
    /// Returns seconds of virtual time in nanoseconds.
    static func seconds(_ count: Int64) -> Int64 { count * ClusterRules.second }
    static func milliseconds(_ count: Int64) -> Int64 { count * ClusterRules.millisecond }
}

/// A value that a closure fills in.
final class Box<Value> {
    var value: Value?
}

/// A cluster with one topic, and short forms of frequent requests.
struct ClusterFixture {
    let cluster: SimulatedCluster
    let topic = "requests"

    init(
        partitions: Int32 = 2, settings: TopicSettings = TopicSettings(),
        _ change: (inout ClusterRules) -> Void = { _ in }
    ) {
        var rules = ClusterRules()
        change(&rules)
        cluster = SimulatedCluster(rules: rules)
        var settings = settings
        settings.partitions = partitions
        _ = cluster.createTopic(CreateTopicRequest(topic, settings))
    }

    func partition(_ number: Int32) -> PartitionID { PartitionID(topic, number) }

    static func record(_ value: String, key: String? = nil, timestamp: Int64? = nil) -> SimulatedRecord {
        SimulatedRecord(key: key.map { Array($0.utf8) }, value: Array(value.utf8), timestamp: timestamp)
    }

    // MARK: - Records

    @discardableResult
    func produce(
        _ values: [String], to number: Int32 = 0, by producer: ProducerIdentity = .none, sequence: Int32 = -1,
        transactionalID: String? = nil, at broker: Int32? = nil
    ) -> ProduceResponse.Result {
        let batch = ProduceRequest.Batch(
            partition(number), values.map { Self.record($0) }, producer: producer, baseSequence: sequence,
            isTransactional: transactionalID != nil)
        return cluster.produce(ProduceRequest([batch], transactionalID: transactionalID), at: broker).results[0]
    }

    func fetch(
        _ number: Int32 = 0, from offset: Int64 = 0, isolation: FetchRequest.Isolation = .readCommitted
    ) -> FetchResponse.Partition {
        let wanted = FetchRequest.Partition(partition(number), offset: offset)
        return cluster.fetch(FetchRequest([wanted], isolation: isolation)).partitions[0]
    }

    /// The values that a reader of committed records sees.
    func committedValues(_ number: Int32 = 0) -> [String] {
        (cluster.log(of: partition(number))?.committed ?? []).map {
            String(decoding: $0.record.value ?? [], as: UTF8.self)
        }
    }

    // MARK: - Transactions

    func transactionalProducer(_ id: String = "tx", timeout: Int64 = .seconds(60)) -> ProducerIdentity {
        cluster.initProducerID(InitProducerIDRequest(id, transactionTimeout: timeout)).producer
    }

    func addPartitions(
        _ numbers: [Int32] = [0], by producer: ProducerIdentity, id: String = "tx", knowsFenced: Bool = false
    ) -> ErrorCode {
        let name = TransactionName(id, producer, knowsProducerFenced: knowsFenced)
        let request = AddPartitionsToTxnRequest(name, numbers.map(partition))
        return cluster.addPartitionsToTxn(request).results[partition(numbers[0])] ?? .unknownServerError
    }

    func end(_ result: TransactionResult, by producer: ProducerIdentity, id: String = "tx") -> ErrorCode {
        cluster.endTxn(EndTxnRequest(TransactionName(id, producer), result)).error
    }

    func pass(_ time: Int64) { cluster.advance(to: cluster.now + time) }

    // MARK: - Groups

    /// Joins with the id that the coordinator assigns, without waiting for other members.
    func join(
        _ group: String = "workers", id: String = "", instanceID: String? = nil, protocols: [String] = ["range"],
        session: Int64 = .seconds(10), rebalance: Int64 = .seconds(30)
    ) -> Box<JoinGroupResponse> {
        var request = JoinGroupRequest(group, protocols: protocols.map { JoinGroupRequest.Proposal($0) })
        request.memberID = id
        request.instanceID = instanceID
        request.sessionTimeout = session
        request.rebalanceTimeout = rebalance
        let answer = Box<JoinGroupResponse>()
        cluster.joinGroup(request) { answer.value = $0 }
        guard answer.value?.error == .memberIDRequired else { return answer }
        request.memberID = answer.value?.memberID ?? ""
        answer.value = nil
        cluster.joinGroup(request) { answer.value = $0 }
        return answer
    }

    func sync(
        _ joined: JoinGroupResponse, group: String = "workers", instanceID: String? = nil,
        assignments: [String: [UInt8]] = [:]
    ) -> Box<SyncGroupResponse> {
        let answer = Box<SyncGroupResponse>()
        let name = MemberName(id: joined.memberID, instanceID: instanceID, generation: joined.generation)
        cluster.syncGroup(SyncGroupRequest(group, as: name, assignments: assignments)) { answer.value = $0 }
        return answer
    }

    /// Returns the only member of a group, with its assignment.
    func stableMember(_ group: String = "workers", instanceID: String? = nil) -> MemberName {
        let joined = join(group, instanceID: instanceID).value
        guard let joined else { return .nobody }
        _ = sync(joined, group: group, instanceID: instanceID, assignments: [joined.memberID: [1]])
        return MemberName(id: joined.memberID, instanceID: instanceID, generation: joined.generation)
    }

    func heartbeat(_ member: MemberName, group: String = "workers") -> ErrorCode {
        cluster.heartbeat(HeartbeatRequest(group, as: member)).error
    }

    func commit(
        _ offset: Int64, of number: Int32 = 0, as member: MemberName = .nobody, group: String = "workers"
    ) -> ErrorCode {
        let offsets = [partition(number): OffsetToCommit(offset)]
        return cluster.offsetCommit(OffsetCommitRequest(group, as: member, offsets)).error
    }

    func commit(
        _ offset: Int64, of number: Int32 = 0, as member: MemberName = .nobody, group: String = "workers",
        by producer: ProducerIdentity, id: String = "tx"
    ) -> ErrorCode {
        let offsets = [partition(number): OffsetToCommit(offset)]
        return cluster.txnOffsetCommit(
            TxnOffsetCommitRequest(TransactionName(id, producer), group: group, as: member, offsets)
        ).error
    }

    func committed(
        _ number: Int32 = 0, group: String = "workers", requireStable: Bool = true
    ) -> OffsetFetchResponse.Result? {
        let request = OffsetFetchRequest(group, [partition(number)], requireStable: requireStable)
        return cluster.offsetFetch(request).results[partition(number)]
    }

    // MARK: - KIP-848

    func beat(
        _ id: String, epoch: Int32, owned: [PartitionID]? = nil, group: String = "workers", instanceID: String? = nil
    ) -> ConsumerGroupHeartbeatResponse {
        var request = ConsumerGroupHeartbeatRequest(group, memberID: id, memberEpoch: epoch)
        request.instanceID = instanceID
        request.owned = owned
        if epoch == 0 {
            request.owned = []
            request.topics = [topic]
            request.rebalanceTimeout = .seconds(30)
        }
        return cluster.consumerGroupHeartbeat(request)
    }
}
