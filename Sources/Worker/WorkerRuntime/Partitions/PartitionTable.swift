internal import Basics
internal import EventContract
internal import EventLoop
internal import Kafka
internal import Logging

/// The partitions that are assigned to a lane, with the requests under way on each.
///
/// Requests come in by `take` and leave by `finish`, which makes room at the intake. Confined to its lane; not `Sendable`.
final class PartitionTable {
    private let source: any RequestSource
    private let gate: IntakeGate
    private let meters: WorkerMeters
    private let loop: EventLoop
    private let log: Logger
    private let ordering: WorkerConfiguration.Ordering
    /// The names of the topics that requests are read from, in their order in the settings.
    private let requestTopics: [String]
    private let maxSpan: Int
    private let keepsSteps: Bool
    /// The flow of all requests where they are not told apart.
    private let standardFlow: Flow
    let metadataLimit: MetadataLimit
    private let sequencer = OutcomeSequencer<OrderKey>()
    private var partitions: [TopicPartition: OwnedPartition] = [:]
    private var endOfWork = Condition()
    private var commitOfNotes = Condition()
    /// Nobody waits for what has failed.
    private var isAbandoned = false
    private var hasPassedOver = false
    /// Partitions of which nothing more is to be read, which the reader has yet to tell the source.
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

    /// Returns the partition of a record; `nil` when its assignment is over or about to be.
    func owner(of record: ConsumerRecord) -> OwnedPartition? {
        guard let partition = partitions[record.partition.id], partition.id == record.partition, !partition.isLeaving
        else { return nil }
        return partition
    }

    /// `true` unless the partition's assignment is over.
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

    /// - Returns: what was removed; partitions whose assignment was over already are left out.
    func remove(_ assigned: [AssignedPartition]) -> [OwnedPartition] {
        let removed = assigned.filter { partitions[$0.id]?.id == $0 }.compactMap {
            partitions.removeValue(forKey: $0.id)
        }
        meters.kafka.countAssigned(change: -removed.count)
        return removed
    }

    /// Takes over what the group has committed of partitions, before the first record of them is taken.
    func begin(at committed: [AssignedPartition: CommittedOffset]) {
        for (id, commit) in committed {
            guard let partition = partitions[id.id], partition.id == id else { continue }
            switch CommitMetadata.read(commit) {
            case .known(let metadata):
                partition.begin(at: commit, with: metadata)
                metadataLimit.noteReadBack(commit)
                if partition.isCareful { reportCare(for: id.id, metadata.crashes) }
            case .nothing: partition.begin(at: commit, with: CommitMetadata())
            case .copied: ignore(commit, of: partition, "was written beside another offset, and copied by a tool")
            case .foreign: ignore(commit, of: partition, "is not understood")
            }
        }
    }

    private func ignore(_ commit: CommittedOffset, of partition: OwnedPartition, _ reason: String) {
        partition.begin(at: commit, with: CommitMetadata())
        log.warning(
            "the metadata of a committed offset is ignored: what is done beyond the offset may be repeated",
            metadata: ["partition": "\(partition.id.id)", "offset": "\(commit.offset)", "reason": "the text \(reason)"])
    }

    private func reportCare(for id: TopicPartition, _ notes: CrashNotes) {
        log.warning(
            """
            two workers in turn ended while they had this partition, and said no goodbye: what they had under way runs one by one, so \
            that a record that crashes processes is found
            """,
            metadata: [
                "partition": "\(id)", "tries": "\(notes.tries)",
                "up to": "\(max(notes.begun ?? 0, notes.running.last ?? 0))",
            ])
    }

    /// Returns what is to be committed of each partition for which that changed since the last call.
    func takeProgress() -> [(partition: AssignedPartition, next: CommittedOffset)] {
        partitions.values.compactMap { partition in
            partition.reviewCrashes(at: loop.now)
            guard let next = partition.takeProgress() else { return nil }
            adaptIntake(of: partition)
            return (partition: partition.id, next: next)
        }
    }

    /// Has everything that is done handed out again by `takeProgress`.
    func renewProgress() {
        for partition in partitions.values { partition.tracker.renewNews() }
    }

    /// Reads nothing more of a partition while its metadata is nearly full, so that what is done beyond the offset goes on being
    /// committed.
    ///
    /// What former owners had done is left out of account. Waiting does not make it less, and a partition that waited for that would
    /// wait for ever.
    func adaptIntake(of partition: OwnedPartition) {
        let room = max(0, 1 - partition.inheritedUse)
        let use = partition.metadataUse - partition.inheritedUse
        if use > 0.75 * room { hold(partition, because: .metadata) }
        if use <= 0.5 * room { release(partition, from: .metadata) }
    }

    /// Reads nothing more of partitions whose offsets the brokers refuse for their topic's sake, until they take them: a crash would repeat
    /// what is done of them, and what it costs.
    func noteRefusedCommits(_ refused: [AssignedPartition: KafkaError]) {
        for partition in partitions.values {
            guard let reason = refused[partition.id] else { release(partition, from: .commit); continue }
            if !partition.holdReasons.contains(.commit) {
                log.error(
                    "offsets of a partition cannot be committed: nothing more is read of it until they can",
                    metadata: ["partition": "\(partition.id.id)", "reason": "\(reason)"])
            }
            hold(partition, because: .commit)
        }
    }

    // MARK: - Crashes

    /// Notes what the brokers have committed.
    func noteCommitted(_ committed: some Sequence<(AssignedPartition, CommittedOffset)>) {
        var isAnyNoted = false
        for (id, commit) in committed {
            guard let partition = partitions[id.id], partition.id == id, !partition.isNoted else { continue }
            partition.noteConfirmed(commit)
            isAnyNoted = isAnyNoted || partition.isNoted
        }
        if isAnyNoted { commitOfNotes.broadcast() }
    }

    /// Waits until the brokers have the notes of some partitions, as far as these are ours.
    /// - Returns: `false` when that took longer than `bound`.
    func waitUntilNoted(_ noting: [OwnedPartition], atMost bound: Duration) async -> Bool {
        await wait(on: \.commitOfNotes, before: loop.now + bound) {
            noting.contains { !$0.isNoted && contains($0) }
        }
    }

    /// Waits until nothing is under way.
    /// - Returns: `false` when that took longer than `bound`.
    func waitUntilQuiet(atMost bound: Duration) async -> Bool {
        await wait(on: \.endOfWork, before: loop.now + bound) { !isQuiet }
    }

    /// True while nothing is under way.
    var isQuiet: Bool { partitions.values.allSatisfy(\.isIdle) }

    /// Waits until some requests have ended.
    /// - Returns: `false` when that took longer than `bound`.
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

    /// Takes a record in.
    /// - Parameter partition: The record's own.
    /// - Returns: `nil` for one that is not to be run: it is under way already, or a former owner has done it.
    @inline(__always)
    func take(_ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival) -> RequestInProgress? {
        guard let request = admit(record, of: partition, at: arrival, flow: { _ in standardFlow }) else { return nil }
        begin(request)
        return request
    }

    /// Notes a record that may begin later.
    /// - Parameter flow: decides in which line it waits.
    /// - Returns: as `take` does.
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

    /// Begins a request that was admitted.
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

    /// Returns whether records were passed over since the last call.
    func takeHasPassedOver() -> Bool {
        defer { hasPassedOver = false }
        return hasPassedOver
    }

    private func orderKey(of record: ConsumerRecord, _ requestClass: RequestClass) -> OrderKey? {
        let id = record.partition.id
        return switch ordering {
        case .unordered: nil
        case .partition: .partition(id.topic, number: id.partition, requestClass)
        // Without a key there is nothing to keep in order.
        case .key: record.key.map { .key(partition: id.topic, number: id.partition, key: $0, requestClass) }
        }
    }

    /// Ends a request. Only a delivered one counts as done, and only while its partition is ours.
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

    /// Has later requests of the partition wait until the dead letter of this record is written: see `OwnedPartition`.
    func expectDeadLetter(of request: RequestInProgress) {
        request.partition.expectDeadLetter(of: request.slot)
        hold(request.partition, because: .deadLetter)
    }

    /// Ends every request that is not being delivered, and all waiting for requests to end.
    func abandonAll() {
        isAbandoned = true
        for partition in partitions.values { partition.giveUp() }
        endOfWork.broadcast()
        commitOfNotes.broadcast()
    }

    // MARK: - Holding back

    /// Reads nothing more of a partition whose waiting requests take their part of the memory, and reads on once they take half of it.
    func adaptReading(of partition: OwnedPartition, to room: WaitingRoom) {
        if room.isFull(of: partition, among: partitions.count) { hold(partition, because: .memory) }
        if room.hasRoom(for: partition, among: partitions.count) { release(partition, from: .memory) }
    }

    /// Keeps a record until careful intake begins it, and reads no more of its partition.
    /// - Returns: `true` for the first record that is held.
    func hold(_ record: ConsumerRecord, of partition: OwnedPartition) -> Bool {
        partition.held.append(record)
        defer { hold(partition, because: .care) }
        return !partition.holdReasons.contains(.care)
    }

    /// Reads on once careful intake has begun all records that were held.
    func releaseCare(of partition: OwnedPartition) {
        if !isPutBack(.heldPartitionForgotten) { release(partition, from: .care) }
    }

    private func hold(_ partition: OwnedPartition, because reason: OwnedPartition.HoldReasons) {
        let wasHeld = !partition.holdReasons.isEmpty
        partition.holdReasons.insert(reason)
        guard !wasHeld else { return }
        partitionsToHold.append(partition.id)
        Task(executorPreference: loop) { [source, id = partition.id] in await source.hold(id) }
    }

    /// Holds what is to be held. The reader calls this before it reads, because while records come it never waits, so that no other
    /// job would run before it had read all that the client has fetched.
    func holdBack() async {
        while let id = partitionsToHold.popLast() { await source.hold(id) }
    }

    private func release(_ partition: OwnedPartition, from reason: OwnedPartition.HoldReasons) {
        guard partition.holdReasons.remove(reason) != nil, partition.holdReasons.isEmpty else { return }
        partitionsToHold.removeAll { $0 == partition.id }
        Task(executorPreference: loop) { [source, id = partition.id] in await source.resume(id) }
    }

    // MARK: - Waiting for the end

    /// Waits for what is in flight on some partitions. What is not done by `end` is given up.
    func waitUntilIdle(_ waited: [OwnedPartition], before end: Instant) async {
        _ = await wait(on: \.endOfWork, before: end) { waited.contains { !$0.isIdle } }
        for partition in waited { partition.giveUp() }
    }
}
