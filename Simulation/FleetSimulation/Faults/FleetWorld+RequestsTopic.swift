import Basics
import Kafka
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// The requests topic deleted and made again: its offsets begin anew, and what was not answered is gone with it.
extension FleetWorld {
    /// Keeps the requests of the topic that is about to be deleted under another name. No partition of that name is in the
    /// cluster, so the judge takes those without an outcome for deleted.
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

    /// Notes what a member has read. Where nobody has read its topic up to where it began, it has the offset from the topic that was
    /// deleted.
    func noteRead(of partition: PartitionID, from start: Int64, next: Int64, topic: UInt64) {
        let newest = readEnds[partition]?.topic ?? topic
        guard topic >= newest else { return }
        let known = topic == newest ? readEnds[partition]?.offset ?? 0 : 0
        if isRemade(partition), start > known {
            staleStarts[partition] = max(staleStarts[partition] ?? 0, start)
            say("\(partition) is read on at \(start), an offset of the former topic")
        }
        if next > known, inheritedDone[partition]?.contains(next - 1) == true {
            staleDone[partition, default: []].insert(next - 1)
            say("\(partition)@\(next - 1) is passed over, because it was done of the former topic")
        }
        readEnds[partition] = (topic, max(known, next))
        if isRemade(partition) { waits[partition] = (topic, next) }
    }

    /// Notes what is done according to the commit at which a member begins to read.
    func noteBeginning(of partition: PartitionID, at commit: CommittedOffset) {
        guard isRemade(partition) else { return }
        inheritedDone[partition] = nil
        if case .known(let metadata) = CommitMetadata.read(commit) { inheritedDone[partition] = metadata.done }
    }

    /// Notes that a member has read all that its partition holds, from an offset on. It goes on with the next record.
    func noteWaiting(for partition: PartitionID, readFrom begin: Int64, topic: UInt64) {
        if isRemade(partition) { waits[partition] = (topic, begin) }
    }

    private func isRemade(_ partition: PartitionID) -> Bool {
        partition.topic == SimulatedWorker.requests && !archivedTopics.isEmpty
    }

    /// True where the group's offset of a topic that was made again is one of the former topic, so that it has nobody pass anything over
    /// before a member reads on there.
    func isStale(_ commit: Int64, of partition: PartitionID) -> Bool {
        isRemade(partition) && commit > readEnd(of: partition)
    }

    /// Returns how far the topic that is there has been read.
    private func readEnd(of partition: PartitionID) -> Int64 {
        guard let end = readEnds[partition], end.topic == topicID(of: partition) else { return 0 }
        return end.offset
    }

    private func topicID(of partition: PartitionID) -> UInt64? {
        network.cluster.metadata(MetadataRequest([partition.topic])).topics.first?.id
    }

    /// True for a request of a topic that was made again that stands below the offset of the former topic at which a member went on in the
    /// new one, because that had grown past it (docs/guarantees.md, "What breaks the guarantees"), and for one that the text beside that
    /// offset says is done.
    func mayBePassedOver(_ partition: PartitionID, _ offset: Int64) -> Bool {
        if offset < staleStarts[partition] ?? 0 { return true }
        if staleDone[partition]?.contains(offset) == true { return true }
        guard isRemade(partition) else { return false }
        // Nobody has read on there yet, for want of further records. The group's offset was forgotten with the topic, or is there.
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

    /// True for an outcome of a request of a deleted topic that was written after the deletion. Kafka forgets the group's offsets with a
    /// topic, so nothing says of a transaction of before whose commit got no answer that its outcomes are published.
    func wasWrittenAfterDeletion(of partition: PartitionID, _ record: SimulatedRecord) -> Bool {
        guard let deletion = deletionTimes[partition.topic], let time = record.timestamp else { return false }
        return secondsOfSchedule(at: time) > deletion
    }

    /// Returns the place of the request that an outcome is the answer to. An outcome names topic and offset, which two requests
    /// share when the topic was deleted and made again: the number of the request tells them apart.
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
    /// Has the requests topic deleted and made again.
    mutating func makeRequestsTopicAgain(_ random: inout SeededGenerator) {
        let movesOffsets = faults.contains { if case .offsetsBack = $0.kind { true } else { false } }
        guard !faults.isEmpty, !movesOffsets, random.chance(0.05) else { return }
        let gap = Double.random(in: 0.1...4, using: &random)
        faults.append(
            Fault(
                time: Double.random(in: 3...26, using: &random),
                kind: .cluster(.makeAgain(SimulatedWorker.requests, gap: gap))))
        faults.sort { $0.time < $1.time }
        // The error of a record that is no request does not say which record of an offset it is about.
        for index in requests.indices { (requests[index].isValid, requests[index].padding) = (true, 0) }
    }
}
