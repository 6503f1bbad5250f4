internal import Basics
internal import Kafka

/// Outcomes that wait for a transaction, per partition, and which of them go into the next one.
///
/// Confined to its lane; not `Sendable`.
final class ReadyOutcomes {
    /// An outcome that waits for its transaction.
    final class Entry {
        let request: RequestInProgress
        var outcome: OutgoingOutcome
        /// The size that the outcome had when it became ready, which is what the intake counts until it is settled.
        let bytes: Int
        /// A record of it was refused together with others: it goes into a transaction of its own.
        var goesAlone = false
        /// It may be why a topic was refused to a whole transaction. It goes alone until one is committed.
        fileprivate(set) var isSuspect = false
        /// A truncated record has taken the place of one that was refused as too large although it was alone.
        var isTruncated = false
        /// The topic that refused a record of it for a reason that lasts.
        var refusingTopic: String?

        init(_ request: RequestInProgress, _ outcome: OutgoingOutcome) {
            self.request = request
            self.outcome = outcome
            bytes = outcome.bytes
        }
    }

    /// The most outcomes of one transaction, so that one that must be done again is done soon.
    static let largestBatch = 1000

    private var hasSuspects = false
    private var entries: [ObjectIdentifier: [OffsetTracker.Slot: Entry]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    func add(_ outcome: OutgoingOutcome, of request: RequestInProgress) -> Entry {
        let entry = Entry(request, outcome)
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

    /// Removes and returns the outcomes of those requests of a partition that the group has committed as done.
    func removeAll(of partition: OwnedPartition, doneBy committed: CommittedOffset) -> [Entry] {
        var done = DoneSet()
        if case .known(let metadata) = CommitMetadata.read(committed) { done = metadata.done }
        let earlier = (entries[ObjectIdentifier(partition)] ?? [:]).values.filter {
            $0.request.offset < committed.offset || done.contains($0.request.offset)
        }
        for entry in earlier { remove(entry) }
        return earlier
    }

    /// Has some outcomes go alone until a transaction is committed.
    func suspect(_ suspects: [Entry]) {
        hasSuspects = true
        for entry in suspects { entry.isSuspect = true }
    }

    /// Lets suspects go with others again: a transaction has been committed.
    func clearSuspicions() {
        guard hasSuspects else { return }
        hasSuspects = false
        for partition in entries.values { for entry in partition.values { entry.isSuspect = false } }
    }

    func contains(_ entry: Entry) -> Bool {
        entries[ObjectIdentifier(entry.request.partition)]?[entry.request.slot] === entry
    }

    /// True while an outcome waits for a topic that refused a record of it.
    func isRefused(by topic: String) -> Bool {
        entries.values.contains { $0.values.contains { $0.refusingTopic == topic } }
    }

    /// Chooses what may leave next: of each partition the ready outcomes, oldest first, as far as what is committed with them can
    /// say that they are done (`OwnedPartition.publishable`).
    ///
    /// An outcome that goes alone is a batch by itself. So is one that a topic refuses, when `mayRetry` says that its topic may be
    /// tried again.
    /// - Parameters:
    ///   - inOrder: `worker.ordering` promises an order: an outcome that goes alone, or is refused, holds up those behind it in
    ///     its partition.
    ///   - isRefusing: `true` for a topic that still refuses records.
    /// - Returns: the batch, and whether something that could leave is left for the next one.
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
            let room = Self.largestBatch - batch.count
            let ready = partition.tracker.readySlots(atMost: max(1, room)).compactMap { waiting[$0] }

            // What goes alone goes first, or it might never get a turn.
            let held = inOrder ? ready.prefix(1) : ready[...]
            if let single = held.first(where: { !leavesWithOthers($0) && mayLeave($0) }),
                !partition.publishable([single.request.slot]).isEmpty
            {
                return ([single], true)
            }

            let others = inOrder ? Array(ready.prefix(while: leavesWithOthers)) : ready.filter(leavesWithOthers)
            let leaving = room > 0 ? partition.publishable(others.map(\.request.slot)).compactMap { waiting[$0] } : []
            batch += leaving
            // What goes alone gets its turn behind these, when nothing else may become ready any more.
            let isOneLeft = !leaving.isEmpty && leaving.count < ready.count && !isPutBack(.aloneForgotten)
            if ready.count >= room || isOneLeft { hasMore = true }
        }
        return (batch, hasMore)
    }
}
