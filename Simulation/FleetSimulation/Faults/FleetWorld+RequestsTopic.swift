import Basics
import Kafka
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// The requests topic deleted and created again: its offsets start at 0, and unanswered requests are gone.
extension FleetWorld {
    /// Keeps the requests of the topic that is about to be deleted under another topic name.
    ///
    /// The cluster has no partition of that name, so the judge treats requests without an outcome as deleted.
    func archiveRequests() {
        let archive = "\(SimulatedWorker.requests) deleted \(archivedTopics.count)"
        archivedTopics.append(archive)
        deletionTimes[archive] = beginning.duration(to: simulation.now) / .seconds(1)
        staleStarts = staleStarts.filter { $0.key.topic != SimulatedWorker.requests }
        (staleDone, inheritedDone, waits) = ([:], [:], [:])
        for (partition, requests) in requestAt where partition.topic == SimulatedWorker.requests {
            requestAt[PartitionID(archive, partition.partition)] = requests
            requestAt[partition] = nil
        }
        for (partition, offsets) in excused where partition.topic == SimulatedWorker.requests {
            excused[PartitionID(archive, partition.partition)] = offsets
            excused[partition] = nil
        }
    }

    /// Records what a member has read.
    ///
    /// If no member had read the topic up to the offset at which this one began, that offset is from the deleted topic.
    func noteRead(of partition: PartitionID, from start: Int64, next: Int64, topic: UInt64) {
        let newest = readEnds[partition]?.topic ?? topic
        guard topic >= newest else { return }
        let known = topic == newest ? readEnds[partition]?.offset ?? 0 : 0
        if isRemade(partition), start > known {
            staleStarts[partition] = max(staleStarts[partition] ?? 0, start)
            say("\(partition) continues at \(start), an offset of the former topic")
        }
        if next > known, inheritedDone[partition]?.contains(next - 1) == true {
            staleDone[partition, default: []].insert(next - 1)
            say("\(partition)@\(next - 1) is skipped, because it was finished in the former topic")
        }
        readEnds[partition] = (topic, max(known, next))
        if isRemade(partition) { waits[partition] = (topic, next) }
    }

    /// Records which requests the commit at which a member begins to read lists as done.
    func noteBeginning(of partition: PartitionID, at commit: CommittedOffset) {
        guard isRemade(partition) else { return }
        inheritedDone[partition] = nil
        if case .known(let metadata) = CommitMetadata.read(commit) { inheritedDone[partition] = metadata.done }
    }

    /// Records that a member has read all records of a partition from `begin` on, and waits for the next one.
    func noteWaiting(for partition: PartitionID, readFrom begin: Int64, topic: UInt64) {
        if isRemade(partition) { waits[partition] = (topic, begin) }
    }

    private func isRemade(_ partition: PartitionID) -> Bool {
        partition.topic == SimulatedWorker.requests && !archivedTopics.isEmpty
    }

    /// True if the group's offset of a recreated topic is from the former topic. No member skips records
    /// because of it until it reads on there.
    func isStale(_ commit: Int64, of partition: PartitionID) -> Bool {
        isRemade(partition) && commit > readEnd(of: partition)
    }

    /// Returns how far the current topic has been read.
    private func readEnd(of partition: PartitionID) -> Int64 {
        guard let end = readEnds[partition], end.topic == topicID(of: partition) else { return 0 }
        return end.offset
    }

    private func topicID(of partition: PartitionID) -> UInt64? {
        network.cluster.metadata(MetadataRequest([partition.topic])).topics.first?.id
    }

    /// True for a request of a recreated topic that workers may skip.
    ///
    /// It lies below an offset of the former topic at which a member went on because the new topic had grown past that offset
    /// (docs/guarantees.md, "What breaks the guarantees"). Or the metadata of that offset lists it as done.
    func mayBePassedOver(_ partition: PartitionID, _ offset: Int64) -> Bool {
        if offset < staleStarts[partition] ?? 0 { return true }
        if staleDone[partition]?.contains(offset) == true { return true }
        guard isRemade(partition) else { return false }
        // No member has read on there yet, for lack of further records. The group's offset went with the topic, or still exists.
        if let wait = waits[partition], wait.topic == topicID(of: partition), offset < wait.offset,
            offset >= readEnd(of: partition)
        {
            return true
        }
        guard let end = network.cluster.log(of: partition)?.logEnd,
            let commit = network.cluster.commits(by: SimulatedWorker.group)[partition], commit.offset <= end
        else { return false }
        return isStale(commit.offset, of: partition) && offset < commit.offset
            || offset >= readEnd(of: partition) && commit.done.contains(offset)
    }

    /// True if the group's offset lies beyond the end of a recreated topic: the next member reads the topic from its
    /// first record. A member that still runs prefetched requests of the former topic commits such offsets.
    func isReadFromStart(_ partition: PartitionID) -> Bool {
        guard isRemade(partition), let end = network.cluster.log(of: partition)?.logEnd,
            let commit = network.cluster.commits(by: SimulatedWorker.group)[partition]
        else { return false }
        return commit.offset > end
    }

    /// True for an outcome of a request of a deleted topic that was written after the deletion.
    ///
    /// Kafka deletes the group's offsets with a topic. So if an earlier transaction's commit got no answer, no
    /// offset shows that its outcomes are published.
    func wasWrittenAfterDeletion(of partition: PartitionID, _ record: SimulatedRecord) -> Bool {
        guard let deletion = deletionTimes[partition.topic], let time = record.timestamp else { return false }
        return secondsOfSchedule(at: time) > deletion
    }

    /// Returns the partition and offset of the request that an outcome answers.
    ///
    /// An outcome names topic and offset, which two requests share if the topic was recreated. The request number distinguishes them.
    func source(of record: SimulatedRecord) -> (partition: PartitionID, offset: Int64)? {
        guard let source = RequestRecord.source(of: record) else { return nil }
        guard !archivedTopics.isEmpty, let number = RequestRecord.number(of: record),
            requestAt[source.partition]?[source.offset]?.number != number
        else { return source }

        let archive = archivedTopics.last { topic in
            requestAt[PartitionID(topic, source.partition.partition)]?[source.offset]?.number == number
        }
        return archive.map { (PartitionID($0, source.partition.partition), source.offset) } ?? source
    }
}

extension FleetPlan {
    /// Makes the requests topic be deleted and created again.
    mutating func makeRequestsTopicAgain(_ random: inout SeededGenerator) {
        let movesOffsets = faults.contains { if case .offsetsBack = $0.kind { true } else { false } }
        guard !faults.isEmpty, !movesOffsets, random.chance(0.05) else { return }
        let gap = Double.random(in: 0.1...4, using: &random)
        faults.append(
            Fault(
                time: Double.random(in: 3...26, using: &random),
                kind: .cluster(.makeAgain(SimulatedWorker.requests, gap: gap))))
        faults.sort { $0.time < $1.time }
        // The error event of an invalid record does not identify one of two records with the same offset.
        for index in requests.indices { (requests[index].isValid, requests[index].padding) = (true, 0) }
    }
}
