internal import Basics
internal import EventLoop

/// Waits for requests to end, and for the brokers to have crash notes. A fatal failure ends every wait.
extension PartitionTable {
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
        await wait(on: \.endOfWork, before: loop.now + bound) { stage == .running && !isQuiet } && isQuiet
    }

    /// Waits until some requests have ended.
    /// - Returns: `false` if that took longer than `bound`.
    func waitForEnd(of requests: [RequestInProgress], atMost bound: Duration) async -> Bool {
        func haveEnded() -> Bool { requests.allSatisfy { $0.index == nil } }
        return await wait(on: \.endOfWork, before: loop.now + bound) { stage == .running && !haveEnded() }
            && haveEnded()
    }

    /// Ends the waits of records that run in isolation.
    func beginDrain() {
        if stage == .running { stage = .draining }
        endOfWork.broadcast()
    }

    private func wait(
        on condition: ReferenceWritableKeyPath<PartitionTable, Condition>, before end: Instant,
        while mustWait: () -> Bool
    ) async -> Bool {
        let timer = loop.schedule(at: end) { [weak self] in self?[keyPath: condition].broadcast() }
        defer { loop.cancel(timer) }
        while stage != .abandoned, loop.now < end, mustWait() {
            await suspend(unless: stage == .abandoned || loop.now >= end || !mustWait()) {
                self[keyPath: condition].add($0)
            }
        }
        return !mustWait()
    }

    /// Waits for the requests of some partitions. Abandons the requests that have not finished by `end`.
    func waitUntilIdle(_ waited: [OwnedPartition], before end: Instant) async {
        _ = await wait(on: \.endOfWork, before: end) { waited.contains { !$0.isIdle } }
        for partition in waited { partition.giveUp() }
    }

    /// Returns whether the records from the oldest unfinished to the newest taken reach a part of their limit.
    func hasSpan(_ part: Double, _ partition: OwnedPartition) -> Bool {
        let (span, open) = (partition.commits.tracker.span, partition.commits.tracker.undeliveredCount)
        if Double(span) >= part * Double(maxSpan) { return true }
        guard let most = maxScatteredSpan.map({ part * Double($0) }) else { return false }
        // A gap of the done-set takes at most six bytes. With one open request in eight bytes, all gaps fit.
        return Double(span) >= most && Double(open) > most / 32
    }
}
