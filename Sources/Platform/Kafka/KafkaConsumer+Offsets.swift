internal import Basics
internal import EventLoop

/// The offsets of finished records, and their commits.
extension KafkaConsumer {
    /// Stores the offsets to continue from, for the next `commit`. Ignores partitions whose assignment has ended.
    public func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) { commits.store(offsets) }

    /// Commits the stored offsets that are not yet committed, and waits for the broker's answer. Between a revocation
    /// and the next assignment it commits nothing, because a commit could then cost the whole assignment.
    /// - Returns: The partitions with a committed offset, each with the offset to continue from.
    /// - Throws: Why a stored offset was not committed; the next call retries.
    @discardableResult
    public func commit(within bound: Duration = .seconds(30)) async throws(KafkaError) -> [AssignedPartition: Int64] {
        try await commits.commit(before: loop.now + bound) { () throws(KafkaError) in
            guard !isClosed else { throw .closed }
            try checkIsMember()
        }
        return commits.confirmed
    }

    func checkIsMember() throws(KafkaError) {
        if group.isRejoining { throw KafkaError(.retriable, "commit offsets: the group is rebalancing") }
    }

    /// Records offsets that a transaction has committed, so that `positions` shows them. Ignores partitions whose
    /// assignment has ended.
    /// - Parameter offsets: The offset of the next record to read, one past the last finished one.
    public func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        for (partition, next) in offsets {
            guard let source = partitions.source(partition) else { continue }
            source.offsets.committed = next
            (source.offsets.uncommitted, source.missingSince) = (nil, nil)
        }
    }

    /// Prepares an offset commit that is made if the process crashes, within 2 s if the brokers answer.
    ///
    /// No other commit of the partition may be pending at the time of the crash. The commit is made only if the process
    /// itself fails: a trap, an invalid memory access, or an abort. A process holds one such commit, the newest.
    /// - Parameter commit: `nil` removes the prepared commit.
    public func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) {
        guard let commit, !isClosed else { return CrashHandler.set(nil) }
        CrashHandler.set { [client, offsets = [commit.partition.id: commit.next]] in
            _ = client.commitHoldingThread(offsets, within: CrashHandler.bound)
        }
    }

    /// The client's statistics at the end of the last statistics interval; `nil` before the first one, or if statistics
    /// are off. Safe to call from any thread.
    public nonisolated var statistics: ClientStatistics? { client.statistics.current }

    /// Why the brokers reject offset commits of single partitions, for example because their topic was deleted or
    /// access to it was revoked. Each commit tries them again.
    public var refusedCommits: [AssignedPartition: KafkaError] { commits.refusals }

    /// The number of offsets ignored because their assignment had ended.
    public var staleOffsets: Int { commits.staleOffsets }

    /// The number of commits begun, for tests.
    var commitsBegun: Int { commits.begun }

    /// The known state of each assigned partition. Makes no request.
    ///
    /// Lag is `end - committed`. If the group has committed nothing, the lag counts from the start offset, so that a
    /// new group shows its initial backlog.
    public var positions: [Position] {
        guard !isClosed else { return [] }
        return partitions.inOrder.map { source in
            Position(
                partition: source.partition, committed: source.offsets.committed ?? source.offsets.start,
                end: [client.knownEnd(of: source.partition.id), source.offsets.end].compactMap(\.self).max(),
                problem: source.problem)
        }
    }
}
