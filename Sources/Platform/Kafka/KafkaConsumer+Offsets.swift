internal import Basics
internal import EventLoop

/// Offsets of finished records, and how far the broker has confirmed them.
extension KafkaConsumer {
    /// Notes where to continue, for the next `commit`. Partitions whose assignment is over are left out.
    public func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) { commits.store(offsets) }

    /// Commits what is stored and not yet committed, and waits for the broker's answer. After a revocation, until the next
    /// assignment, nothing is committed: a commit then can cost the whole assignment.
    /// - Returns: The partitions whose offset the broker has confirmed, each with the offset to continue from.
    /// - Throws: Why something that was stored is not committed; the next call tries again.
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

    /// Notes offsets that a transaction has committed, so that `positions` shows them. Partitions whose assignment is over
    /// are left out.
    /// - Parameter offsets: The offset of the next record to read, one past the last finished one.
    public func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        for (partition, next) in offsets {
            guard let source = partitions.source(partition) else { continue }
            source.committed = next
            source.uncommitted = nil
        }
    }

    /// Has an offset committed if this consumer's loop crashes from now on, as far as the brokers answer within 2 s.
    ///
    /// Nothing else of the partition may be about to be committed then. The commit is made only where the process ends by a fault of its
    /// own: a trap, an access to foreign memory, an abort. A process is prepared for one such commit, the newest.
    /// - Parameter commit: `nil`: none any more.
    public func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) {
        guard let commit, !isClosed else { return CrashHandler.set(nil) }
        CrashHandler.set { [client, offsets = [commit.partition.id: commit.next]] in
            _ = client.commitHoldingThread(offsets, within: CrashHandler.bound)
        }
    }

    /// The client's figures at the end of the last statistics interval; `nil` before that, or without one. May
    /// be asked for from any thread.
    public nonisolated var statistics: ClientStatistics? { client.statistics.current }

    /// Why the brokers refuse to commit offsets of single partitions, as where their topic was deleted or may not be read any more. They are
    /// tried again with each commit.
    public var refusedCommits: [AssignedPartition: KafkaError] { commits.refusals }

    /// How many offsets came for an assignment that was over, and were left out.
    public var staleOffsets: Int { commits.staleOffsets }

    /// The number of commits that were asked for, for tests.
    var commitsBegun: Int { commits.begun }

    /// The state of each assigned partition, as far as it is known. Asks nobody.
    ///
    /// Lag is `end - committed`. Where nothing was ever committed it counts from where reading begins, so that a new group
    /// shows what it has before it.
    public var positions: [Position] {
        guard !isClosed else { return [] }
        return partitions.inOrder.map { source in
            Position(
                partition: source.partition, committed: source.committed ?? source.start,
                end: [client.knownEnd(of: source.partition.id), source.end].compactMap(\.self).max(),
                problem: source.problem)
        }
    }
}
