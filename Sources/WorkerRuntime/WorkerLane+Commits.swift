internal import EventLoop
internal import Kafka
internal import Logging

/// `worker.delivery=at-least-once`: finished offsets to the broker, at the pace that bounds what a crash repeats.
extension WorkerLane {
    /// Whether nothing new may begin, because what is finished could not be committed in time.
    var commitsAreOverdue: Bool { configuration.delivery == .atLeastOnce && commitPace.isOverdue(at: .now) }

    func startCommits() {
        guard configuration.delivery == .atLeastOnce else { return }
        commitPace = CommitPace(interval: configuration.commitInterval, now: .now)
        scheduleCommit(after: commitPace.pause)
    }

    /// Commits what is finished; where the broker does not take it, tries again until `end`.
    func endCommits(before end: ContinuousClock.Instant) async {
        guard let timer = commitTimer else { return }
        loop.cancel(timer)
        commitTimer = nil
        while let error = await commitFinished(), error.kind != .authentication {
            guard ContinuousClock.now + commitPace.retryPause < end else { return }
            await loop.pause(commitPace.retryPause)
        }
    }

    private func scheduleCommit(after pause: Duration) {
        commitTimer = loop.schedule(at: .now + pause) { [weak self] in
            self?.assumeIsolated { lane in _ = Task { await lane.commitOnTime() } }
        }
    }

    private func commitOnTime() async {
        let error = await commitFinished()
        // `nil` by now at the end, which commits by itself.
        guard commitTimer != nil, failure == nil else { return }
        scheduleCommit(after: error == nil ? commitPace.pause : commitPace.retryPause)
    }

    /// Commits all that is finished. Nothing after a fatal failure.
    /// - Returns: why something of it is not committed.
    @discardableResult
    func commitFinished() async -> KafkaError? {
        guard configuration.delivery == .atLeastOnce, failure == nil else { return nil }
        let begin = ContinuousClock.now
        await storeFrontiers()
        do throws(KafkaError) {
            try await consumer.commit(within: CommitPace.patience)
        } catch {
            noteFailedCommit(error)
            return error
        }
        if commitPace.committed(since: begin) { log.info("commits are in time again: requests begin again") }
        wakeForRoom()
        return nil
    }

    private func noteFailedCommit(_ error: KafkaError) {
        meters.failedCommit()
        guard commitPace.failed(at: .now) else { return }
        log.warning(
            """
            offsets cannot be committed: no request begins until they can, for a crash would repeat it and what it costs; \
            check the group's coordinator and what this user may do with the group
            """,
            metadata: ["reason": "\(error)"])
    }

    /// Hands the frontiers that moved to the consumer.
    func storeFrontiers() async {
        guard configuration.delivery == .atLeastOnce else { return }
        let moved = owned.values.compactMap { partition in
            partition.newFrontier().map { (partition: partition.id, next: $0) }
        }
        if !moved.isEmpty { await consumer.store(moved) }
    }
}
