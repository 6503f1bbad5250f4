internal import EventContract
internal import EventLoop
internal import Kafka
internal import Logging

/// The partitions that are assigned to a lane, with the requests in progress on each.
///
/// `take` adds requests, and `finish` removes them, which makes room for new ones. Confined to its lane; not
/// `Sendable`.
final class PartitionTable {
    let pauses: PartitionPauses
    private let gate: IntakeGate
    private let meters: WorkerMeters
    let loop: EventLoop
    private let log: Logger
    /// The names of the request topics, in the order of the settings.
    private let requestTopics: [String]
    let (maxSpan, maxScatteredSpan): (Int, Int?)
    let metadataLimit: MetadataLimit
    private let standard: StandardRequest
    private var partitions: [TopicPartition: OwnedPartition] = [:]
    var endOfWork = Condition()
    var commitOfNotes = Condition()
    var stage = Stage.running
    /// Called if offsets can be committed that no outcome of this lane commits: a former owner has done the record, or
    /// the log has a gap.
    var onProgressWithoutOutcome: () -> Void = {}
    /// Called when a partition may hold back fewer requests.
    var onRelease: ((OwnedPartition) -> Void)?

    /// While the lane drains, no record waits for isolation. After a fatal failure, no wait continues.
    enum Stage { case running, draining, abandoned }

    /// The settings of every request.
    private struct StandardRequest {
        let order: OutcomeOrder
        /// The flow of all requests if they are not distinguished.
        let flow: Flow
        let keepsSteps: Bool
    }

    init(
        source: any RequestSource, gate: IntakeGate, configuration: WorkerConfiguration, meters: WorkerMeters,
        loop: EventLoop, log: Logger
    ) {
        pauses = PartitionPauses(source, loop: loop)
        (self.gate, self.meters, self.loop) = (gate, meters, loop)
        requestTopics = configuration.topics.requestTopics.map(\.name)
        (maxSpan, maxScatteredSpan) = (configuration.maxSpan, configuration.maxScatteredSpan)
        standard = StandardRequest(
            order: OutcomeOrder(configuration.ordering),
            flow: Flow(configuration.topics.requestTopics.first?.standardClass ?? .interactive),
            keepsSteps: configuration.requestSteps)
        metadataLimit = MetadataLimit(
            configuration.doneSetBytes, needsProof: configuration.delivery == .exactlyOnce, log: log)
        self.log = log
    }

    var count: Int { partitions.count }
    var all: [OwnedPartition] { Array(partitions.values) }
    subscript(id: TopicPartition) -> OwnedPartition? { partitions[id] }

    /// Returns the partition of a record; `nil` if its assignment has ended or is about to end.
    func owner(of record: ConsumerRecord) -> OwnedPartition? {
        guard let partition = partitions[record.partition.id], partition.id == record.partition, !partition.isLeaving
        else { return nil }
        return partition
    }

    /// `true` unless the partition's assignment has ended.
    func contains(_ partition: OwnedPartition) -> Bool { !partition.hasEnded }

    func add(_ assigned: [AssignedPartition]) {
        let before = partitions.count
        for partition in assigned {
            let topicIndex = requestTopics.firstIndex(of: partition.id.topic) ?? 0
            let new = OwnedPartition(partition, topicIndex: topicIndex, metadataLimit: metadataLimit)
            partitions.updateValue(new, forKey: partition.id)?.hasEnded = true
        }
        meters.kafka.countAssigned(change: partitions.count - before)
    }

    /// - Returns: the removed partitions, without those whose assignment had already ended.
    func remove(_ assigned: [AssignedPartition]) -> [OwnedPartition] {
        let removed = assigned.filter { partitions[$0.id]?.id == $0 }.compactMap {
            partitions.removeValue(forKey: $0.id)
        }
        for partition in removed { partition.hasEnded = true }
        meters.kafka.countAssigned(change: -removed.count)
        return removed
    }

    /// Takes over the group's committed offsets, before the first record of these partitions is taken.
    func begin(at committed: [AssignedPartition: CommittedOffset]) {
        var watched: [TopicPartition] = []
        for (id, commit) in committed {
            guard let partition = partitions[id.id], partition.id == id else { continue }
            switch CommitMetadata.read(commit) {
            case .known(let metadata):
                partition.commits.begin(at: commit, with: metadata)
                metadataLimit.noteReadBack(commit)
                if partition.commits.isCareful { reportCare(for: id.id, metadata.crashes) }
                if partition.commits.isWatched, !partition.commits.isCareful { watched.append(id.id) }
            case .nothing: partition.commits.begin(at: commit, with: CommitMetadata())
            case .copied: ignore(commit, of: partition, "belongs to another offset, and was copied by a tool")
            case .foreign: ignore(commit, of: partition, "has an unknown format")
            }
        }
        guard !watched.isEmpty else { return }
        log.notice(
            """
            requests of these partitions begin in small steps at first: their last owner ended or lost them without \
            releasing them, because it crashed, was killed or frozen, or could not reach the brokers
            """, metadata: ["partitions": "\(watched.sorted().map { "\($0)" }.joined(separator: ", "))"])
    }

    private func ignore(_ commit: CommittedOffset, of partition: OwnedPartition, _ reason: String) {
        partition.commits.begin(at: commit, with: CommitMetadata())
        log.warning(
            "the metadata of a committed offset is ignored: requests finished beyond the offset may be repeated",
            metadata: ["partition": "\(partition.id.id)", "offset": "\(commit.offset)", "reason": "the text \(reason)"])
    }

    private func reportCare(for id: TopicPartition, _ notes: CrashNotes) {
        log.warning(
            """
            the last two owners of this partition crashed, or were killed or frozen, or could not reach the brokers: its \
            open requests now run one at a time, to isolate a record that may crash workers
            """,
            metadata: [
                "partition": "\(id)", "tries": "\(notes.tries)",
                "up to": "\(max(notes.begun ?? 0, notes.running.last ?? 0))",
            ])
    }

    /// Returns the offset to commit of each partition for which it has changed since the last call.
    func takeProgress() -> [(partition: AssignedPartition, next: CommittedOffset)] {
        partitions.values.compactMap { partition in
            partition.commits.reviewCrashes(at: loop.now)
            guard let next = partition.commits.takeProgress() else { return nil }
            adaptIntake(of: partition)
            return (partition: partition.id, next: next)
        }
    }

    /// Makes the next `takeProgress` return all done offsets again.
    func renewProgress() {
        for partition in partitions.values { partition.commits.tracker.renewNews() }
    }

    /// Pauses reading of a partition while its metadata is nearly full, so that its whole done-set can be committed.
    ///
    /// The former owners' done offsets are not counted. Only reading reduces them, so the partition would stay paused.
    func adaptIntake(of partition: OwnedPartition) {
        let room = max(0, 1 - partition.commits.inheritedUse)
        let use = partition.commits.metadataUse - partition.commits.inheritedUse
        if use > 0.75 * room { pauses.pause(partition, because: .metadata) }
        if use <= 0.5 * room { pauses.resume(partition, from: .metadata) }
    }

    /// Pauses reading of partitions while the brokers refuse their offsets because of the topic. A crash would repeat
    /// the uncommitted work and its costs.
    func noteRefusedCommits(_ refused: [AssignedPartition: KafkaError]) {
        for partition in partitions.values {
            guard let reason = refused[partition.id] else {
                pauses.resume(partition, from: .commit)
                onRelease?(partition)
                continue
            }
            if !partition.pauseReasons.contains(.commit) {
                log.error(
                    "offsets of a partition cannot be committed: the partition is paused until they can",
                    metadata: ["partition": "\(partition.id.id)", "reason": "\(reason)"])
            }
            pauses.pause(partition, because: .commit)
        }
    }

    // MARK: - Crashes

    /// Records the offsets and notes that the brokers have committed.
    func noteCommitted(_ committed: some Sequence<(AssignedPartition, CommittedOffset)>) {
        var isAnyNoted = false
        for (id, commit) in committed {
            guard let partition = partitions[id.id], partition.id == id, !partition.isNoted else { continue }
            partition.commits.noteConfirmed(commit)
            isAnyNoted = isAnyNoted || partition.isNoted
        }
        if isAnyNoted { commitOfNotes.broadcast() }
    }

    /// True while nothing is in progress.
    var isQuiet: Bool { partitions.values.allSatisfy(\.isIdle) }

    // MARK: - Requests

    /// Takes a record of a partition.
    /// - Returns: `nil` for a record that is not to be run: it is in progress already, or a former owner has done it.
    @inline(__always)
    func take(_ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival) -> RequestInProgress? {
        guard let request = admit(record, of: partition, at: arrival, flow: { _ in standard.flow }) else { return nil }
        begin(request)
        return request
    }

    /// Registers a record that may begin later.
    /// - Parameter flow: returns the flow of the request.
    /// - Returns: `nil` for a record that is not to be run, as `take`.
    @inline(__always)
    func admit(
        _ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival,
        flow: (ConsumerRecord) -> Flow
    ) -> RequestInProgress? {
        let beginning = partition.commits.tracker.begin(record.offset)
        guard case .run(let slot) = beginning else {
            if beginning == .wasDone {
                meters.kafka.countPassedOver()
                onProgressWithoutOutcome()
            }
            return nil
        }

        let flow = flow(record)
        let request = RequestInProgress(
            record: record, partition: partition, slot: slot,
            orderPosition: standard.order.append(record, flow.requestClass), arrival: arrival,
            flow: flow, keepsSteps: standard.keepsSteps)
        if hasSpan(1, partition) { pauses.pause(partition, because: .span) }
        return request
    }

    @inline(__always)
    func begin(_ request: RequestInProgress) {
        request.partition.add(request)
        gate.requestTaken()
        meters.requests.countTaken(after: request.taken.topicWait)
    }

    /// Records a gap between the last read record and the end of a partition.
    func noteGap(_ offsets: Range<Int64>, of assigned: AssignedPartition) {
        guard let partition = partitions[assigned.id], partition.id == assigned else { return }
        partition.commits.tracker.noteGap(offsets)
        onProgressWithoutOutcome()
    }

    /// Ends a request. It counts as done only if it was delivered and its partition is still assigned.
    func finish(_ request: RequestInProgress, isDelivered: Bool) {
        let partition = request.partition
        partition.remove(request)
        if isDelivered {
            meters.requests.countDelivered(
                after: request.taken.at.duration(to: loop.now), topicWait: request.taken.topicWait,
                topicIndex: partition.topicIndex)
        }
        if let trace = request.trace { trace.finish(isDelivered: isDelivered, wasHandedOver: request.isDelivering) }

        if isDelivered, contains(partition) {
            partition.commits.tracker.markDelivered(request.slot)
            if !hasSpan(0.5, partition) { pauses.resume(partition, from: .span) }
            if partition.deadLetterIsWritten(of: request.slot) {
                onRelease?(partition)
                if !partition.hasPendingDeadLetters { pauses.resume(partition, from: .deadLetter) }
            }
        }

        gate.requestFinished()
        if partition.isIdle || partition.commits.isWatched { endOfWork.broadcast() }
    }

    /// Ends a request without an outcome.
    /// - Parameter wasted: the number of provider calls whose answers are not used.
    func drop(_ request: RequestInProgress, wasted: Int) {
        request.leaveOrder()
        meters.calls.countWasted(wasted)
        finish(request, isDelivered: false)
    }

    /// Counts records that the brokers deleted before they were read.
    /// - Returns: those of them that no owner has done.
    func countMissed(_ offsets: Range<Int64>, of partition: TopicPartition) -> Int64 {
        let missed = partitions[partition]?.commits.tracker.countUndone(among: offsets) ?? Int64(offsets.count)
        meters.kafka.countMissed(missed)
        return missed
    }

    /// Makes later requests of the partition wait until the dead letter of this record is written: see
    /// `OwnedPartition`.
    func expectDeadLetter(of request: RequestInProgress) {
        request.partition.expectDeadLetter(of: request.slot)
        pauses.pause(request.partition, because: .deadLetter)
    }

    /// Ends every request that is not being delivered, and all waits for requests to end.
    func abandonAll() {
        stage = .abandoned
        for partition in partitions.values { partition.giveUp() }
        endOfWork.broadcast()
        commitOfNotes.broadcast()
    }
}
