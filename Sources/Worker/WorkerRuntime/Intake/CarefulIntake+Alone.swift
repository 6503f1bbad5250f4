internal import EventLoop
internal import Kafka

/// Runs a record with nothing else in flight in the process.
extension CarefulIntake {
    /// The longest wait for in-flight requests to finish before a record runs in isolation. It exceeds every deadline.
    private static let timeToGetQuiet = Duration.seconds(65)

    /// Runs a record in isolation, or lets it begin among others if isolation would take too long.
    func takeAlone(
        _ record: ConsumerRecord, of partition: OwnedPartition, mayBegin: Wait, isOpen: () -> Bool, begin: Begin
    ) async {
        isOneAlone = true
        let isAlone = await mayBeAlone(record.offset, of: partition) { await mayBegin(.runsAlone) }
        if isAlone,
            await noteAlone(record.offset, of: partition, mayBegin: { await mayBegin(.runsAlone) }, isOpen: isOpen)
        {
            await runAlone(record, of: partition, begin: begin)
        }
        exclusiveLock.end(of: lane)
        isOneAlone = false
        if !isAlone, isOurs(partition) { await takeStep(of: partition, atLeast: 1, mayBegin: mayBegin, begin: begin) }
    }

    /// Writes the note that a record is about to run in isolation. The note is withdrawn while intake is paused.
    /// Otherwise the record would be blamed if the worker were killed before the record has run.
    /// - Returns: `false` if the lane takes no more requests.
    private func noteAlone(
        _ offset: Int64, of partition: OwnedPartition, mayBegin: () async -> Bool, isOpen: () -> Bool
    ) async -> Bool {
        while await mayBegin(), isOurs(partition) {
            partition.commits.willRunAlone(offset, at: loop.now)
            if await commitNotes(of: [partition], mayBegin: isOpen) { return true }
            partition.commits.watch.withdrawAlone()
            await tryCommit(of: partition)
        }
        return false
    }

    /// Runs a record with nothing else in flight in the process. A record that exceeds its time limit continues among
    /// others.
    private func runAlone(_ record: ConsumerRecord, of partition: OwnedPartition, begin: Begin) async {
        if let commit = partition.commits.commitOnCrash(with: record.offset) {
            await source.commitOnCrash((partition: partition.id, next: commit))
        }
        var mustTakeBack = partition.commits.isSuspect(record.offset)
        if isOurs(partition) { partition.keptRecords.removeFirst() }
        if let request = begin(record, .runsAlone) {
            let start = loop.now
            if await !partitions.waitForEnd(of: [request], atMost: partition.commits.watch.nextIsolation) {
                mustTakeBack = true
            }
            partition.commits.watch.spendCare(start.duration(to: loop.now))
            if request.fate != .abandoned { partition.commits.watch.hasRunAlone(record.offset) }
        }
        await source.commitOnCrash(nil)
        // The next record's note clears the note of an ordinary record within milliseconds. A record that continues
        // among others must not be blamed if the partition is lost meanwhile, so its note is cleared now.
        if mustTakeBack { await tryCommit(of: partition) }
    }

    /// Waits until a record may run in isolation.
    ///
    /// A suspect record waits until the group is stable. While the group rebalances, its note cannot be withdrawn. If
    /// the worker were then killed, the record would be blamed, even if it had finished.
    /// - Returns: `false` if the record is to begin among others, so that no crash is attributed to it.
    private func mayBeAlone(_ offset: Int64, of partition: OwnedPartition, mayBegin: () async -> Bool) async -> Bool {
        guard partition.commits.isSuspect(offset) else { return await waitUntilAlone(for: partition) }
        guard await waitForRest(of: partition, mayBegin: mayBegin), await waitUntilAlone(for: partition) else {
            return false
        }
        // In-flight requests may have taken long to finish.
        return await waitForRest(of: partition, mayBegin: mayBegin)
    }

    /// Waits until the group is stable.
    /// - Returns: `false` if that took too long.
    private func waitForRest(of partition: OwnedPartition, mayBegin: () async -> Bool) async -> Bool {
        guard groupRest.isWorthWaiting(at: loop.now) else { return false }
        let start = loop.now
        defer { partition.commits.watch.spendCare(start.duration(to: loop.now)) }
        let end = start + min(partition.commits.watch.careLeft, GroupRest.longestWait)

        while loop.now < end, partitions.contains(partition), await mayBegin() {
            let isPrompt = await tryCommit(of: partition)
            if groupRest.isReached(at: loop.now) { return true }
            await loop.pause(isPrompt ? GroupRest.promptCommit / 2 : Self.retryPause)
        }
        groupRest.postponeNextWait(since: start, at: loop.now)
        return false
    }

    /// Commits a partition's notes, even if the brokers already have them, to test whether the group accepts a commit
    /// at once.
    @discardableResult
    private func tryCommit(of partition: OwnedPartition) async -> Bool {
        let asked = loop.now
        partition.commits.repeatNotes()
        await delivery.offsets.commitNotes()
        let isNoted = await partitions.waitUntilNoted([partition], atMost: GroupRest.promptCommit)
        groupRest.noteCommit(askedAt: asked, isCommitted: isNoted, at: loop.now)
        return isNoted
    }

    /// Waits until nothing is in flight in the process, and keeps the other lanes from beginning requests.
    /// - Returns: `false` if that took too long: then no crash of the process may be attributed to the record.
    private func waitUntilAlone(for partition: OwnedPartition) async -> Bool {
        let start = loop.now
        defer { partition.commits.watch.spendCare(start.duration(to: loop.now)) }
        let end = start + min(partition.commits.watch.careLeft, Self.timeToGetQuiet)

        while !exclusiveLock.take(for: lane) {
            guard loop.now < end, partitions.stage == .running else { return false }
            await loop.pause(Self.pause)
        }

        guard await partitions.waitUntilQuiet(atMost: loop.now.duration(to: end)) else { return false }
        while await !exclusiveLock.isQuiet(besides: lane) {
            guard loop.now < end, partitions.stage == .running else { return false }
            await loop.pause(Self.pause)
        }
        return true
    }
}
