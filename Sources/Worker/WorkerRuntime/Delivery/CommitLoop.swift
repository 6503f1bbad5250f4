internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// Commits finished offsets at the pace that bounds what a crash repeats: see `CommitPace`.
///
/// Confined to its lane; not `Sendable`.
final class CommitLoop {
    /// A worker that has failed holds nobody up for longer.
    private static let timeAfterFailure = Duration.seconds(1)

    private let source: any RequestSource
    private let partitions: PartitionTable
    private let gate: IntakeGate
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    private var pace: CommitPace
    private var endOfPause = Condition()
    private var pauseTimer: TimerID?
    private var hasBegun = false
    private var isFinishing = false
    /// What was handed to the consumer and is not known to be committed.
    private var stored: [AssignedPartition: CommittedOffset] = [:]
    /// After a fatal failure nothing further is committed at the pace.
    private var isStopped = false

    init(
        interval: Duration, source: any RequestSource, partitions: PartitionTable, gate: IntakeGate, loop: EventLoop,
        meters: WorkerMeters, log: Logger
    ) {
        self.source = source
        self.partitions = partitions
        self.gate = gate
        self.loop = loop
        self.meters = meters
        self.log = log
        pace = CommitPace(interval: interval, now: loop.now)
    }

    /// `true` while nothing new may begin, because what is finished could not be committed in time.
    var isOverdue: Bool { hasBegun && pace.isOverdue(at: loop.now) }

    /// How long commits are overdue; `nil` while they are not.
    var overdue: Duration? { hasBegun ? pace.overdue(at: loop.now) : nil }

    /// Commits at the pace until `finish` or `stop` was called.
    /// - Parameter onTurn: called before each commit.
    func run(onTurn: () -> Void) async {
        hasBegun = true
        pace = CommitPace(interval: pace.interval, now: loop.now)

        var hasFailed = false
        while !isFinishing, !isStopped {
            await rest(for: hasFailed ? pace.retryPause : pace.pause)
            if isFinishing || isStopped { return }
            onTurn()
            hasFailed = await commit() != nil
        }
    }

    /// Commits all that is finished. Nothing after a fatal failure.
    /// - Returns: why something of it is not committed.
    @discardableResult
    func commit() async -> KafkaError? {
        guard !isStopped else { return nil }

        let begin = loop.now
        let hasMoved = await storeProgress()
        var handedOver = stored
        do throws(KafkaError) {
            try await source.commit(within: CommitPace.timeout)
            let refused = await source.refusedCommits
            partitions.noteRefusedCommits(refused)
            handedOver = handedOver.filter { refused[$0.key] == nil }
            if hasMoved {
                meters.kafka.countCommit(of: handedOver.keys, after: begin.duration(to: loop.now))
            }
            partitions.noteCommitted(handedOver.map { ($0.key, $0.value) })
            for (id, commit) in handedOver where stored[id] == commit { stored[id] = nil }
        } catch {
            if partitions.metadataLimit.shrink(after: error) { partitions.renewProgress() }
            noteFailure(error)
            return error
        }

        if pace.committed(since: begin) { log.info("commits are in time again: requests begin again") }
        gate.wake()
        return nil
    }

    /// Hands what is newly done to the consumer.
    /// - Returns: whether anything is.
    @discardableResult
    func storeProgress() async -> Bool {
        guard !isStopped else { return false }
        let moved = partitions.takeProgress()
        if !moved.isEmpty { await source.store(moved) }
        for (partition, next) in moved { stored[partition] = next }
        return !moved.isEmpty
    }

    /// Ends the loop and commits what is finished; where the broker does not take it, tries again until `end`.
    func finish(before end: Instant) async {
        isFinishing = true
        endRest()
        guard hasBegun else { return }

        while let error = await commit(), error.kind != .authentication {
            guard loop.now + pace.retryPause < end else { return }
            await loop.pause(pace.retryPause)
        }
    }

    /// Commits what was delivered before a fatal failure, once. Brokers refuse it where another member has the partition by now.
    func commitAfterFailure() async {
        let moved = partitions.takeProgress()
        guard hasBegun, !moved.isEmpty else { return }
        await source.store(moved)
        do throws(KafkaError) {
            try await source.commit(within: Self.timeAfterFailure)
        } catch {
            log.notice("the end of this worker could not be noted beside its offsets", metadata: ["reason": "\(error)"])
        }
    }

    /// Ends the loop at once. Only `commitAfterFailure` commits anything any more.
    func stop() {
        isStopped = true
        endRest()
    }

    private func noteFailure(_ error: KafkaError) {
        meters.kafka.countFailedCommit()
        guard pace.failed(at: loop.now) else { return }
        log.warning(
            """
            offsets cannot be committed: no request begins until they can, for a crash would repeat it and what it costs; \
            check the group's coordinator and what this user may do with the group
            """,
            metadata: ["reason": "\(error)"])
    }

    private func rest(for time: Duration) async {
        await suspend(unless: isFinishing || isStopped) { continuation in
            endOfPause.add(continuation)
            pauseTimer = loop.schedule(at: loop.now + time) { [weak self] in self?.endRest() }
        }
    }

    private func endRest() {
        if let pauseTimer { loop.cancel(pauseTimer) }
        pauseTimer = nil
        endOfPause.broadcast()
    }
}
