/// Requests about topics: creating, extending, deleting, describing.
extension SimulatedCluster {
    package func createTopic(_ request: CreateTopicRequest) -> PlainResponse {
        guard !denied.contains(.createTopics) else { return PlainResponse(error: .topicAuthorizationFailed) }
        let isLegal =
            !request.name.isEmpty && request.name.utf8.count <= 249 && request.name != "." && request.name != ".."
            && request.name.utf8.allSatisfy(Self.isLegalInTopicName)
        guard isLegal else { return PlainResponse(error: .invalidTopicException) }
        guard topics[request.name] == nil else { return PlainResponse(error: .topicAlreadyExists) }
        guard request.settings.partitions > 0 else { return PlainResponse(error: .invalidPartitions) }
        guard request.settings.replicas > 0, request.settings.replicas <= rules.brokers else {
            return PlainResponse(error: .invalidReplicationFactor)
        }

        let topic = Topic(id: nextTopicID, settings: request.settings)
        nextTopicID += 1
        addPartitions(to: topic, named: request.name, upTo: request.settings.partitions)
        topics[request.name] = topic
        return PlainResponse(error: .none)
    }

    private static func isLegalInTopicName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private func addPartitions(to topic: Topic, named name: String, upTo count: Int32) {
        let candidates = brokers.isEmpty ? [1] : brokers
        for number in Int32(topic.partitions.count)..<count {
            let leader = candidates[Int(number) % candidates.count]
            topic.partitions.append(
                PartitionLog(PartitionID(name, number), leader: leader, replicas: topic.settings.replicas))
        }
        topic.settings.partitions = count
    }

    package func createPartitions(_ request: CreatePartitionsRequest) -> PlainResponse {
        guard let topic = topics[request.topic] else { return PlainResponse(error: .unknownTopicOrPartition) }
        guard request.count > Int32(topic.partitions.count) else { return PlainResponse(error: .invalidPartitions) }
        addPartitions(to: topic, named: request.topic, upTo: request.count)
        return PlainResponse(error: .none)
    }

    /// Deletes a topic, and the offsets that groups have committed for it.
    package func deleteTopic(_ request: DeleteTopicRequest) -> PlainResponse {
        guard topics[request.name] != nil else { return PlainResponse(error: .unknownTopicOrPartition) }
        topics[request.name] = nil
        for group in groups.values { group.offsets.forget(topic: request.name) }
        wakeWaits()
        return PlainResponse(error: .none)
    }

    package func metadata(_ request: MetadataRequest = MetadataRequest()) -> MetadataResponse {
        let names = request.topics ?? topics.keys.sorted()
        return MetadataResponse(brokers: brokers, topics: names.map(describe))
    }

    private func describe(_ name: String) -> MetadataResponse.Topic {
        if denied.contains(.describeTopic(name)) {
            return MetadataResponse.Topic(name: name, error: .topicAuthorizationFailed)
        }
        if topics[name] == nil, rules.createsTopics {
            _ = createTopic(CreateTopicRequest(name, TopicSettings(partitions: rules.defaultPartitions)))
        }
        guard let topic = topics[name] else {
            return MetadataResponse.Topic(name: name, error: .unknownTopicOrPartition)
        }
        let partitions = topic.partitions.map { log in
            let hasLeader = isUp(log.leader)
            return MetadataResponse.Partition(
                error: hasLeader ? .none : .leaderNotAvailable, partition: log.id.partition,
                leader: hasLeader ? log.leader : -1, leaderEpoch: log.leaderEpoch)
        }
        return MetadataResponse.Topic(name: name, error: .none, id: topic.id, partitions: partitions)
    }

    // MARK: - Changes by the simulation

    /// Returns a copy of a log, for checks.
    package func log(of partition: PartitionID) -> PartitionView? {
        logState(partition).map { log in
            PartitionView(
                entries: log.entries, logStart: log.logStart, logEnd: log.logEnd,
                highWatermark: log.highWatermark, lastStableOffset: log.lastStableOffset, aborted: log.aborted,
                leader: log.leader, leaderEpoch: log.leaderEpoch)
        }
    }

    /// Returns true if there is a record at an offset.
    package func holds(_ offset: Int64, in partition: PartitionID) -> Bool {
        logState(partition)?.holds(offset) ?? false
    }

    /// Changes `max.message.bytes` of a topic; `nil`: the brokers' own limit.
    package func setMaxMessageBytes(of topic: String, to bytes: Int?) {
        topics[topic]?.settings.maxMessageBytes = bytes
    }

    /// Changes `retention.ms` of a topic, in nanoseconds; `nil`: unlimited.
    package func setRetention(of topic: String, to time: Int64?) { topics[topic]?.settings.retention = time }

    package func moveLeader(of partition: PartitionID, to broker: Int32) {
        change(partition) { $0.failOver(to: broker) }
        wakeWaits()
    }

    /// Stops or resumes replication. Without it the high watermark stays, and producers that need all replicas wait.
    package func holdReplication(of partition: PartitionID, _ isHeld: Bool) {
        change(partition) { $0.isReplicationHeld = isHeld }
        wakeWaits()
    }

    package func setInSyncReplicas(of partition: PartitionID, to count: Int) {
        change(partition) { $0.inSyncReplicas = count }
    }

    package func compact(_ partition: PartitionID, removingTombstones: Bool = false) {
        change(partition) { $0.compact(removingTombstones: removingTombstones) }
    }

    func logState(_ partition: PartitionID) -> PartitionLog? {
        guard let topic = topics[partition.topic], topic.partitions.indices.contains(Int(partition.partition)) else {
            return nil
        }
        return topic.partitions[Int(partition.partition)]
    }

    func change(_ partition: PartitionID, _ body: (PartitionLog) -> Void) {
        if let log = logState(partition) { body(log) }
    }
}

/// A copy of a partition at one moment, for checks.
package struct PartitionView: Hashable, Sendable {
    package var entries: [LogEntry]
    package var logStart: Int64
    package var logEnd: Int64
    package var highWatermark: Int64
    package var lastStableOffset: Int64
    package var aborted: [AbortedTransaction]
    package var leader: Int32
    package var leaderEpoch: Int32

    /// The records that a reader of committed records sees.
    package var committed: [LogEntry] {
        entries.filter { entry in
            guard entry.marker == nil, entry.offset < lastStableOffset else { return false }
            return !aborted.contains {
                entry.isTransactional && $0.producerID == entry.producerID
                    && $0.firstOffset <= entry.offset && entry.offset <= $0.lastOffset
            }
        }
    }
}
