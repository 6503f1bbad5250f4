internal import Basics
internal import EventContract
internal import EventLoop
internal import Kafka
internal import Logging

/// The partitions that are assigned to a lane, with the requests in progress on each.
///
/// `take` adds requests, and `finish` removes them, which makes room for new ones. Confined to its lane; not
/// `Sendable`.
final class PartitionTable {
    private let source: any RequestSource
    private let gate: IntakeGate
    private let meters: WorkerMeters
    private let loop: EventLoop
    private let log: Logger
    private let ordering: WorkerConfiguration.Ordering
    /// The names of the request topics, in the order of the settings.
    private let requestTopics: [String]
    private let maxSpan: Int
    private let keepsSteps: Bool
    /// The flow of all requests if they are not distinguished.
    private let standardFlow: Flow
    let metadataLimit: MetadataLimit
    private let sequencer = OutcomeSequencer<OrderKey>()
    private var partitions: [TopicPartition: OwnedPartition] = [:]
    private var endOfWork = Condition()
    private var commitOfNotes = Condition()
    /// True after a fatal failure: no wait continues.
    private var isAbandoned = false
    private var hasPassedOver = false
    /// Partitions that the next `holdBack` pauses at the source.
    private var partitionsToHold: [AssignedPartition] = []

    init(
        source: any RequestSource, gate: IntakeGate, configuration: WorkerConfiguration, meters: WorkerMeters,
        loop: EventLoop, log: Logger
    ) {
        self.source = source
        self.gate = gate
        self.meters = meters
        self.loop = loop
        ordering = configuration.ordering
        requestTopics = configuration.topics.requestTopics.map(\.name)
        maxSpan = configuration.maxSpan
        keepsSteps = configuration.requestSteps
        standardFlow = Flow(configuration.topics.requestTopics.first?.standardClass ?? .interactive)
        metadataLimit = MetadataLimit(
            configuration.doneSetBytes, needsProof: configuration.delivery == .exactlyOnce, log: log)
        self.log = log
    }

    var count: Int { partitions.count }
    var all: [OwnedPartition] { Array(partitions.values) }

    /// The requests that have not begun although everything before them in their partitions has ended.
    var oldestWaiting: some Sequence<RequestInProgress> { partitions.values.lazy.compactMap(\.oldestWaiting) }

    subscript(id: TopicPartition) -> OwnedPartition? { partitions[id] }

    /// Returns the partition of a record; `nil` if its assignment has ended or is about to end.
    func owner(of record: ConsumerRecord) -> OwnedPartition? {
        guard let partition = partitions[record.partition.id], partition.id == record.partition, !partition.isLeaving
        else { return nil }
        return partition
    }

    /// `true` unless the partition's assignment has ended.
    func contains(_ partition: OwnedPartition) -> Bool { partitions[partition.id.id] === partition }

    func add(_ assigned: [AssignedPartition]) {
        let before = partitions.count
        for partition in assigned {
            let topicIndex = requestTopics.firstIndex(of: partition.id.topic) ?? 0
            partitions[partition.id] = OwnedPartition(
                partition, topicIndex: topicIndex, metadataLimit: metadataLimit)
        }
        meters.kafka.countAssigned(change: partitions.count - before)
    }

    /// - Returns: the removed partitions, without those whose assignment had already ended.
    func remove(_ assigned: [AssignedPartition]) -> [OwnedPartition] {
        let removed = assigned.filter { partitions[$0.id]?.id == $0 }.compactMap {
            partitions.removeValue(forKey: $0.id)
        }
        meters.kafka.countAssigned(change: -removed.count)
        return removed
    }

    /// Takes over the group's committed offsets, before the first record of these partitions is taken.
    func begin(at committed: [AssignedPartition: CommittedOffset]) {
        for (id, commit) in committed {
            guard let partition = partitions[id.id], partition.id == id else { continue }
            switch CommitMetadata.read(commit) {
            case .known(let metadata):
                partition.begin(at: commit, with: metadata)
                metadataLimit.noteReadBack(commit)
                if partition.isCareful { reportCare(for: id.id, metadata.crashes) }
            case .nothing: partition.begin(at: commit, with: CommitMetadata())
            case .copied: ignore(commit, of: partition, "belongs to another offset, and was copied by a tool")
            case .foreign: ignore(commit, of: partition, "has an unknown format")
            }
        }
    }

    private func ignore(_ commit: CommittedOffset, of partition: OwnedPartition, _ reason: String) {
        partition.begin(at: commit, with: CommitMetadata())
        log.warning(
            "the metadata of a committed offset is ignored: requests finished beyond the offset may be repeated",
            metadata: ["partition": "\(partition.id.id)", "offset": "\(commit.offset)", "reason": "the text \(reason)"])
    }

    private func reportCare(for id: TopicPartition, _ notes: CrashNotes) {
        log.warning(
            """
            the last two owners of this partition crashed: its open requests now run one at a time, to isolate a record \
            that may crash workers
            """,
            metadata: [
                "partition": "\(id)", "tries": "\(notes.tries)",
                "up to": "\(max(notes.begun ?? 0, notes.running.last ?? 0))",
            ])
    }

    /// Returns the offset to commit of each partition for which it has changed since the last call.
    func takeProgress() -> [(partition: AssignedPartition, next: CommittedOffset)] {
        partitions.values.compactMap { partition in
            partition.reviewCrashes(at: loop.now)
            guard let next = partition.takeProgress() else { return nil }
            adaptIntake(of: partition)
            return (partition: partition.id, next: next)
        }
    }

    /// Makes the next `takeProgress` return all done offsets again.
    func renewProgress() {
        for partition in partitions.values { partition.tracker.renewNews() }
    }

    /// Pauses reading of a partition while its metadata is nearly full, so that its whole done-set can be committed.
    ///
    /// The former owners' done offsets are not counted. Waiting does not reduce them, so a partition that waited for
    /// that would wait forever.
    func adaptIntake(of partition: OwnedPartition) {
        let room = max(0, 1 - partition.inheritedUse)
        let use = partition.metadataUse - partition.inheritedUse
        if use > 0.75 * room { hold(partition, because: .metadata) }
        if use <= 0.5 * room { release(partition, from: .metadata) }
    }

    /// Pauses reading of partitions while the brokers refuse their offsets because of the topic. A crash would repeat
    /// the uncommitted work and its costs.
    func noteRefusedCommits(_ refused: [AssignedPartition: KafkaError]) {
        for partition in partitions.values {
            guard let reason = refused[partition.id] else { release(partition, from: .commit); continue }
            if !partition.holdReasons.contains(.commit) {
                log.error(
                    "offsets of a partition cannot be committed: the partition is paused until they can",
                    metadata: ["partition": "\(partition.id.id)", "reason": "\(reason)"])
            }
            hold(partition, because: .commit)
        }
    }

    // MARK: - Crashes

    /// Records the offsets and notes that the brokers have committed.
    func noteCommitted(_ committed: some Sequence<(AssignedPartition, CommittedOffset)>) {
        var isAnyNoted = false
        for (id, commit) in committed {
            guard let partition = partitions[id.id], partition.id == id, !partition.isNoted else { continue }
            partition.noteConfirmed(commit)
            isAnyNoted = isAnyNoted || partition.isNoted
        }
        if isAnyNoted { commitOfNotes.broadcast() }
    }

    /// Waits until the brokers have the notes of these partitions, except those that have been revoked.
    /// - Returns: `false` if that took longer than `bound`.
    func waitUntilNoted(_ noting: [OwnedPartition], atMost bound: Duration) async -> Bool {
        await wait(on: \.commitOfNotes, before: loop.now + bound) {
            noting.contains { !$0.isNoted && contains($0) }
        }
    }

    /// Waits until nothing is in progress.
    /// - Returns: `false` if that took longer than `bound`.
    func waitUntilQuiet(atMost bound: Duration) async -> Bool {
        await wait(on: \.endOfWork, before: loop.now + bound) { !isQuiet }
    }

    /// True while nothing is in progress.
    var isQuiet: Bool { partitions.values.allSatisfy(\.isIdle) }

    /// Waits until some requests have ended.
    /// - Returns: `false` if that took longer than `bound`.
    func waitForEnd(of requests: [RequestInProgress], atMost bound: Duration) async -> Bool {
        await wait(on: \.endOfWork, before: loop.now + bound) { requests.contains { $0.partition.has($0) } }
    }

    private func wait(
        on condition: ReferenceWritableKeyPath<PartitionTable, Condition>, before end: Instant,
        while mustWait: () -> Bool
    ) async -> Bool {
        let timer = loop.schedule(at: end) { [weak self] in self?[keyPath: condition].broadcast() }
        defer { loop.cancel(timer) }
        while !isAbandoned, loop.now < end, mustWait() {
            await suspend(unless: isAbandoned || loop.now >= end || !mustWait()) { self[keyPath: condition].add($0) }
        }
        return !mustWait()
    }

    // MARK: - Requests

    /// Takes a record.
    /// - Parameter partition: the record's partition.
    /// - Returns: `nil` for a record that is not to be run: it is in progress already, or a former owner has done it.
    @inline(__always)
    func take(_ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival) -> RequestInProgress? {
        guard let request = admit(record, of: partition, at: arrival, flow: { _ in standardFlow }) else { return nil }
        begin(request)
        return request
    }

    /// Registers a record that may begin later.
    /// - Parameter flow: returns the flow of the request.
    /// - Returns: `nil` for a record that is not to be run, as `take`.
    @inline(__always)
    func admit(
        _ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival,
        flow: (IncomingRecord) -> Flow
    ) -> RequestInProgress? {
        let beginning = partition.tracker.begin(record.offset)
        guard case .run(let slot) = beginning else {
            if beginning == .wasDone { notePassedOver() }
            return nil
        }

        let incoming = IncomingRecord(record)
        let flow = flow(incoming)
        let request = RequestInProgress(
            record: incoming, partition: partition, slot: slot,
            turn: orderKey(of: record, flow.requestClass).map { sequencer.nextTurn(in: $0) }, arrival: arrival,
            flow: flow, keepsSteps: keepsSteps)
        if partition.tracker.span >= maxSpan { hold(partition, because: .span) }
        return request
    }

    /// Begins an admitted request.
    @inline(__always)
    func begin(_ request: RequestInProgress) {
        request.partition.add(request)
        gate.requestTaken()
        meters.requests.countTaken(after: request.topicWait)
    }

    private func notePassedOver() {
        hasPassedOver = true
        meters.kafka.countPassedOver()
    }

    /// Returns whether records were skipped since the last call.
    func takeHasPassedOver() -> Bool {
        defer { hasPassedOver = false }
        return hasPassedOver
    }

    private func orderKey(of record: ConsumerRecord, _ requestClass: RequestClass) -> OrderKey? {
        let id = record.partition.id
        return switch ordering {
        case .unordered: nil
        case .partition: .partition(id.topic, number: id.partition, requestClass)
        // A record without a key has no order to keep.
        case .key: record.key.map { .key(partition: id.topic, number: id.partition, key: $0, requestClass) }
        }
    }

    /// Ends a request. It counts as done only if it was delivered and its partition is still assigned.
    func finish(_ request: RequestInProgress, isDelivered: Bool) {
        let partition = request.partition
        partition.remove(request)
        meters.requests.countSettled()
        if isDelivered {
            meters.requests.countDelivered(
                after: request.takenAt.duration(to: loop.now), topicWait: request.topicWait,
                topicIndex: partition.topicIndex)
        }
        if let trace = request.trace {
            trace.finish(isDelivered: isDelivered, wasHandedOver: request.isDelivering)
        }

        if isDelivered, contains(partition) {
            partition.tracker.markDelivered(request.slot)
            if partition.tracker.span < maxSpan / 2 { release(partition, from: .span) }
            if partition.deadLetterIsWritten(of: request.slot) { release(partition, from: .deadLetter) }
        }

        gate.requestFinished()
        if partition.isIdle || partition.isWatched { endOfWork.broadcast() }
    }

    /// Makes later requests of the partition wait until the dead letter of this record is written: see
    /// `OwnedPartition`.
    func expectDeadLetter(of request: RequestInProgress) {
        request.partition.expectDeadLetter(of: request.slot)
        hold(request.partition, because: .deadLetter)
    }

    /// Ends every request that is not being delivered, and all waits for requests to end.
    func abandonAll() {
        isAbandoned = true
        for partition in partitions.values { partition.giveUp() }
        endOfWork.broadcast()
        commitOfNotes.broadcast()
    }

    // MARK: - Pausing

    /// Pauses reading of a partition whose waiting requests use their share of the memory. Resumes it once they use
    /// half of that.
    func adaptReading(of partition: OwnedPartition, to room: WaitingRoom) {
        if room.isFull(of: partition, among: partitions.count) { hold(partition, because: .memory) }
        if room.hasRoom(for: partition, among: partitions.count) { release(partition, from: .memory) }
    }

    /// Keeps a record until careful intake begins it, and pauses reading of its partition.
    /// - Returns: `true` for the first kept record.
    func hold(_ record: ConsumerRecord, of partition: OwnedPartition) -> Bool {
        partition.held.append(record)
        defer { hold(partition, because: .care) }
        return !partition.holdReasons.contains(.care)
    }

    /// Resumes reading once careful intake has begun all kept records.
    func releaseCare(of partition: OwnedPartition) {
        release(partition, from: .care)
    }

    private func hold(_ partition: OwnedPartition, because reason: OwnedPartition.HoldReasons) {
        let wasHeld = !partition.holdReasons.isEmpty
        partition.holdReasons.insert(reason)
        guard !wasHeld else { return }
        partitionsToHold.append(partition.id)
        Task(executorPreference: loop) { [source, id = partition.id] in await source.hold(id) }
    }

    /// Pauses the partitions that are due for it. The reader calls this before each read. While records arrive, the
    /// reader never waits, so the task that pauses a partition would run only after all fetched records were read.
    func holdBack() async {
        while let id = partitionsToHold.popLast() { await source.hold(id) }
    }

    private func release(_ partition: OwnedPartition, from reason: OwnedPartition.HoldReasons) {
        guard partition.holdReasons.remove(reason) != nil, partition.holdReasons.isEmpty else { return }
        partitionsToHold.removeAll { $0 == partition.id }
        Task(executorPreference: loop) { [source, id = partition.id] in await source.resume(id) }
    }

    // MARK: - Waiting for the end

    /// Waits for the requests of some partitions. Abandons the requests that have not finished by `end`.
    func waitUntilIdle(_ waited: [OwnedPartition], before end: Instant) async {
        _ = await wait(on: \.endOfWork, before: end) { waited.contains { !$0.isIdle } }
        for partition in waited { partition.giveUp() }
    }
}
