internal import Basics
internal import EventLoop
internal import Kafka

/// How a record runs with nothing else under way in its process.
extension CarefulIntake {
    /// What is under way has so long to end before a record runs alone: longer than any deadline.
    private static let timeToGetQuiet = Duration.seconds(65)

    /// Runs a record alone, or lets it begin beside others where that would take too long.
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
        loneTurn.end(of: lane)
        isOneAlone = false
        if !isAlone, isOurs(partition) { await takeStep(of: partition, atLeast: 1, mayBegin: mayBegin, begin: begin) }
    }

    /// Notes that a record is about to run alone. While the intake is paused no such note stands: the record would be blamed if the worker
    /// was killed, although it has not run.
    /// - Returns: `false` when the lane takes no more requests.
    private func noteAlone(
        _ offset: Int64, of partition: OwnedPartition, mayBegin: () async -> Bool, isOpen: () -> Bool
    ) async -> Bool {
        while await mayBegin(), isOurs(partition) {
            partition.willRunAlone(offset, at: loop.now)
            if await commitNotes(of: [partition], mayBegin: isOpen) { return true }
            partition.watch.withdrawAlone()
            await tryCommit(of: partition)
        }
        return false
    }

    /// Runs a record with nothing else under way in the process. One that takes longer than its turn goes on beside others.
    private func runAlone(_ record: ConsumerRecord, of partition: OwnedPartition, begin: Begin) async {
        if let commit = partition.commitOnCrash(with: record.offset), !isPutBack(.crashSaysNothing) {
            await source.commitOnCrash((partition: partition.id, next: commit))
        }
        var mustTakeBack = partition.isSuspect(record.offset)
        if isOurs(partition) { partition.held.removeFirst() }
        if let request = begin(record, .runsAlone) {
            let start = loop.now
            if await !partitions.waitForEnd(of: [request], atMost: partition.watch.nextTurn) { mustTakeBack = true }
            partition.watch.spendCare(start.duration(to: loop.now))
            if request.fate != .abandoned { partition.watch.hasRunAlone(record.offset) }
        }
        await source.commitOnCrash(nil)
        // The note of another record goes with the next one's, within milliseconds. One that goes on beside others must not be blamed for
        // the partition's loss meanwhile.
        if mustTakeBack { await tryCommit(of: partition) }
    }

    /// Waits until a record may run alone.
    ///
    /// One that a process has ended with before waits for the group to be at rest. While the group forms, the note that it runs cannot
    /// be taken back, so that it would be blamed for the end of a worker that is killed meanwhile, however well the record has ended.
    /// - Returns: `false` where it is to begin beside others, so that no end is put down to it.
    private func mayBeAlone(
        _ offset: Int64, of partition: OwnedPartition, mayBegin: () async -> Bool
    ) async -> Bool {
        guard partition.isSuspect(offset) else { return await waitUntilAlone(for: partition) }
        guard await waitForRest(of: partition, mayBegin: mayBegin), await waitUntilAlone(for: partition) else {
            return false
        }
        // What was under way may have taken its time to end.
        return await waitForRest(of: partition, mayBegin: mayBegin)
    }

    /// Waits until the group is at rest.
    /// - Returns: `false` when that took too long.
    private func waitForRest(of partition: OwnedPartition, mayBegin: () async -> Bool) async -> Bool {
        guard groupRest.isWorthWaiting(at: loop.now) else { return false }
        let start = loop.now
        defer { partition.watch.spendCare(start.duration(to: loop.now)) }
        let end = start + min(partition.watch.careLeft, GroupRest.longestWait)

        while loop.now < end, partitions.contains(partition), await mayBegin() {
            let isPrompt = await tryCommit(of: partition)
            if groupRest.isReached(at: loop.now) { return true }
            await loop.pause(isPrompt ? GroupRest.promptCommit / 2 : Self.retryPause)
        }
        groupRest.noteVainWait(since: start, at: loop.now)
        return false
    }

    /// Commits a partition's notes, even where the brokers have them, to see whether the group takes a commit at once.
    @discardableResult
    private func tryCommit(of partition: OwnedPartition) async -> Bool {
        let asked = loop.now
        partition.repeatNotes()
        await delivery.commitNotes()
        let isNoted = await partitions.waitUntilNoted([partition], atMost: GroupRest.promptCommit)
        groupRest.noteCommit(askedAt: asked, isCommitted: isNoted, at: loop.now)
        return isNoted
    }

    /// Waits until nothing is under way in the process, and has the other lanes begin nothing.
    /// - Returns: `false` when that took too long: then no end of the process may be put down to the record.
    private func waitUntilAlone(for partition: OwnedPartition) async -> Bool {
        if isPutBack(.aloneBesideOthers) { return loneTurn.take(for: lane) }
        let start = loop.now
        defer { partition.watch.spendCare(start.duration(to: loop.now)) }
        let end = start + min(partition.watch.careLeft, Self.timeToGetQuiet)

        while !loneTurn.take(for: lane) {
            guard loop.now < end else { return false }
            await loop.pause(Self.pause)
        }

        guard await partitions.waitUntilQuiet(atMost: loop.now.duration(to: end)) else { return false }
        while await !loneTurn.isQuiet(besides: lane) {
            guard loop.now < end else { return false }
            await loop.pause(Self.pause)
        }
        return true
    }
}
