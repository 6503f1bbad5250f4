internal import Kafka

/// Outcomes that wait for a transaction, by partition. Chooses the batch for the next transaction.
///
/// Confined to its lane; not `Sendable`.
final class ReadyOutcomes {
    /// An outcome that waits for its transaction.
    final class Entry {
        let request: RequestInProgress
        /// True if one of its records was refused in a shared batch: the outcome needs a transaction without others.
        var goesAlone = false
        /// True if the outcome may be the reason why a topic refused a whole transaction. Until a transaction is
        /// committed, it goes into a transaction without others.
        fileprivate(set) var isSuspect = false
        /// True if a truncated record replaced one that was refused as too large although it was the only one in its
        /// batch.
        var isTruncated = false
        /// The topic that refused one of its records for a lasting reason.
        var refusingTopic: String?

        init(_ request: RequestInProgress) { self.request = request }
    }

    private var hasSuspects = false
    private var entries: [ObjectIdentifier: [OffsetTracker.Slot: Entry]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    @discardableResult
    func add(_ request: RequestInProgress) -> Entry {
        let entry = Entry(request)
        entries[ObjectIdentifier(request.partition), default: [:]][request.slot] = entry
        return entry
    }

    func remove(_ entry: Entry) {
        let partition = ObjectIdentifier(entry.request.partition)
        entries[partition]?[entry.request.slot] = nil
        if entries[partition]?.isEmpty == true { entries[partition] = nil }
    }

    func removeAll(of partition: OwnedPartition) -> [Entry] {
        Array((entries.removeValue(forKey: ObjectIdentifier(partition)) ?? [:]).values)
    }

    /// Removes and returns a partition's outcomes that the group has already committed as done.
    func removeAll(of partition: OwnedPartition, doneBy committed: CommittedOffset) -> [Entry] {
        var done = DoneSet()
        if case .known(let metadata) = CommitMetadata.read(committed) { done = metadata.done }
        let earlier = (entries[ObjectIdentifier(partition)] ?? [:]).values.filter {
            $0.request.offset < committed.offset || done.contains($0.request.offset)
        }
        for entry in earlier { remove(entry) }
        return earlier
    }

    /// Gives each of these outcomes a transaction without others, until a transaction is committed.
    func suspect(_ suspects: [Entry]) {
        hasSuspects = true
        for entry in suspects { entry.isSuspect = true }
    }

    /// Clears all suspicions, after a transaction was committed.
    func clearSuspicions() {
        guard hasSuspects else { return }
        hasSuspects = false
        for partition in entries.values { for entry in partition.values { entry.isSuspect = false } }
    }

    func contains(_ entry: Entry) -> Bool {
        entries[ObjectIdentifier(entry.request.partition)]?[entry.request.slot] === entry
    }

    /// True while an outcome waits for a topic that refused one of its records, and can be published if the topic takes it.
    ///
    /// If the commit metadata cannot mark the outcome as done, an earlier request must end first. Unless that has begun, the
    /// topic must not block intake: each would wait for the other.
    func isRefused(by topic: String) -> Bool {
        entries.values.contains { waiting in
            let refused = waiting.values.filter { $0.refusingTopic == topic }
            guard let first = refused.map(\.request).min(by: { $0.slot < $1.slot }) else { return false }
            return first.partition.oldestHasBegun || !first.partition.commits.publishable([first.slot]).isEmpty
        }
    }

    /// Chooses the next batch: the ready outcomes of each partition, oldest first, as far as the commit metadata can
    /// mark them as done (`PartitionCommits.publishable`).
    ///
    /// An outcome that must go without others forms a separate batch. So does one whose topic refused it, once
    /// `mayRetry` permits another attempt.
    /// - Parameters:
    ///   - inOrder: `worker.ordering` promises an order. An outcome that is refused, or must go without others, then
    ///     blocks later ones of its partition.
    ///   - isRefusing: `true` for a topic that still refuses records.
    /// - Returns: the batch, and whether more outcomes could be published after it.
    func nextBatch(
        of partitions: [OwnedPartition], inOrder: Bool, isRefusing: (_ topic: String) -> Bool,
        mayRetry: (_ topic: String) -> Bool
    ) -> (entries: [Entry], hasMore: Bool) {
        func leavesWithOthers(_ entry: Entry) -> Bool { !goesAlone(entry) && !isRefused(entry) }
        func goesAlone(_ entry: Entry) -> Bool { entry.goesAlone || entry.isSuspect }
        func isRefused(_ entry: Entry) -> Bool { entry.refusingTopic.map(isRefusing) ?? false }
        func mayLeave(_ entry: Entry) -> Bool { !isRefused(entry) || entry.refusingTopic.map(mayRetry) ?? true }
        var batch: [Entry] = []
        var hasMore = false

        for partition in partitions {
            guard let waiting = entries[ObjectIdentifier(partition)] else { continue }
            let room = WorkerConfiguration.largestTransaction - batch.count
            let ready = partition.commits.tracker.readySlots(atMost: max(1, room)).compactMap { waiting[$0] }

            // An outcome that needs a separate transaction goes first. Otherwise it might wait forever.
            let held = inOrder ? ready.prefix(1) : ready[...]
            if let single = held.first(where: { !leavesWithOthers($0) && mayLeave($0) }),
                !partition.commits.publishable([single.request.slot]).isEmpty
            {
                return ([single], true)
            }

            let others = inOrder ? Array(ready.prefix(while: leavesWithOthers)) : ready.filter(leavesWithOthers)
            let leaving =
                room > 0 ? partition.commits.publishable(others.map(\.request.slot)).compactMap { waiting[$0] } : []
            batch += leaving
            // If no outcome of a partition may leave, none follows: they wait for their topic, or for an earlier request.
            let isBeyondRoom = room <= 0 ? !ready.isEmpty : !leaving.isEmpty && ready.count >= room
            // An outcome that needs a separate transaction follows this batch, even if nothing else becomes ready.
            let isOneLeft = !leaving.isEmpty && leaving.count < ready.count
            if isBeyondRoom || isOneLeft { hasMore = true }
        }
        return (batch, hasMore)
    }
}
