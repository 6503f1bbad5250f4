internal import EventLoop
internal import Kafka
internal import Logging

/// Commits finished offsets often enough to bound the work that a crash repeats: see `CommitPace`.
///
/// Confined to its lane; not `Sendable`.
final class CommitLoop: OffsetCommitter {
    /// The timeout of the last commit of a worker that has failed.
    private static let timeAfterFailure = Duration.seconds(1)

    private let source: any RequestSource
    private let partitions: PartitionTable
    private let gate: IntakeGate
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let log: Logger
    private var pace: CommitPace
    private let wakeUp = WakeUp()
    private var hasBegun = false
    private var isFinishing = false
    /// The offsets that the consumer has stored and that are not known to be committed.
    private var stored: [AssignedPartition: CommittedOffset] = [:]
    /// Set by a fatal failure: no further commit is made at the pace.
    private var isStopped = false
    /// Called after each pause, before the commit.
    var onPause: () -> Void = {}

    init(
        interval: Duration, source: any RequestSource, partitions: PartitionTable, gate: IntakeGate, loop: EventLoop,
        meters: WorkerMeters, log: Logger
    ) {
        self.source = source
        (self.partitions, self.gate, self.loop, self.meters, self.log) = (partitions, gate, loop, meters, log)
        pace = CommitPace(interval: interval, now: loop.now)
    }

    /// `true` while requests may not begin, because finished work could not be committed in time.
    var isOverdue: Bool { hasBegun && pace.isOverdue(at: loop.now) }

    /// The time for which commits have been overdue; `nil` if they are not.
    var overdue: Duration? { hasBegun ? pace.overdue(at: loop.now) : nil }

    /// Commits at the pace until `finish` or `stop` is called.
    func run() async {
        hasBegun = true
        pace = CommitPace(interval: pace.interval, now: loop.now)

        var hasFailed = false
        while !isFinishing, !isStopped {
            await wakeUp.rest(for: hasFailed ? pace.retryPause : pace.pause, on: loop)
            if isFinishing || isStopped { return }
            onPause()
            hasFailed = await commit() != nil
        }
    }

    func commitFinished() async { await commit() }

    func commitNotes() async { await commit() }

    func storeFinished() async { await storeProgress() }

    /// Commits everything that is finished. Does nothing after a fatal failure.
    /// - Returns: the error of a failed commit.
    @discardableResult
    private func commit() async -> KafkaError? {
        guard !isStopped else { return nil }

        let begin = loop.now
        let hasMoved = await storeProgress()
        var committing = stored
        do throws(KafkaError) {
            try await source.commit(within: CommitPace.timeout)
            let refused = await source.refusedCommits
            partitions.noteRefusedCommits(refused)
            committing = committing.filter { refused[$0.key] == nil }
            if hasMoved { meters.kafka.countCommit(of: committing.keys, after: begin.duration(to: loop.now)) }
            partitions.noteCommitted(committing.map { ($0.key, $0.value) })
            for (id, commit) in committing where stored[id] == commit { stored[id] = nil }
        } catch {
            if partitions.metadataLimit.shrink(after: error) { partitions.renewProgress() }
            noteFailure(error)
            return error
        }

        if pace.committed(since: begin) { log.info("commits succeed again: intake resumes") }
        gate.wake()
        return nil
    }

    /// Stores newly finished offsets in the consumer.
    /// - Returns: `true` if there were any.
    @discardableResult
    private func storeProgress() async -> Bool {
        guard !isStopped else { return false }
        let moved = partitions.takeProgress()
        if !moved.isEmpty { await source.store(moved) }
        for (partition, next) in moved { stored[partition] = next }
        return !moved.isEmpty
    }

    /// Ends the loop and commits what is finished. Retries until `end` if the broker refuses the commit.
    func finish(before end: Instant) async {
        isFinishing = true
        wakeUp.wake()
        guard hasBegun else { return }

        while let error = await commit(), error.kind != .authentication {
            guard loop.now + pace.retryPause < end else { return }
            await loop.pause(pace.retryPause)
        }
    }

    /// Commits once what was delivered before a fatal failure. Brokers refuse the commit of a partition that another
    /// member owns by then.
    func commitAfterFailure() async {
        let moved = partitions.takeProgress()
        guard hasBegun, !moved.isEmpty else { return }
        await source.store(moved)
        do throws(KafkaError) {
            try await source.commit(within: Self.timeAfterFailure)
        } catch {
            log.notice("the final commit after a fatal failure failed", metadata: ["reason": "\(error)"])
        }
    }

    /// Ends the loop at once. After that, only `commitAfterFailure` commits.
    func stop() {
        isStopped = true
        wakeUp.wake()
    }

    private func noteFailure(_ error: KafkaError) {
        meters.kafka.countFailedCommit()
        guard pace.failed(at: loop.now) else { return }
        log.warning(
            """
            offsets cannot be committed: intake is paused, because a crash would repeat the requests and their costs; check the \
            group's coordinator and this user's permissions on the group
            """,
            metadata: ["reason": "\(error)"])
    }
}
