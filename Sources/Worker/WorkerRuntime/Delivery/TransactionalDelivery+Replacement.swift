internal import EventLoop
internal import Kafka

/// Replaces a transactional producer that can run no further transaction by one with the same transactional id.
///
/// A producer fails fatally if its coordinator aborted a transaction, or if another process uses its transactional id.
/// The error does not distinguish the two; the group does. Offsets are sent in the name of a member, and the brokers
/// refuse those of a static member that another process has replaced (`isMemberReplaced`). Dynamic members cannot
/// conflict, because each start makes new transactional ids.
extension TransactionalDelivery {
    /// The timeout of one query for committed offsets.
    private static let timeToAnswer = Duration.seconds(5)

    /// Continues with a new producer.
    ///
    /// Its registration commits or aborts the transaction that the failed producer may have left. The offsets that the
    /// group has committed by then show which. Outcomes before them are published; the next transaction publishes all
    /// others again, without another provider call.
    /// - Throws: `failure` if another producer is not allowed or would not help. The error ends the worker.
    func replaceProducer(failedWith failure: KafkaError) async throws(KafkaError) {
        var failure = failure
        while !phase.isOver(at: loop.now) {
            guard failure.kind != .closed, !failure.isMemberReplaced else { throw failure }
            try sinks.replace(
                sink, failedWith: failure,
                consequence: "outcomes of an unfinished transaction are published again; providers are not called again"
            )
            // The new producer has no deadline for the shutdown yet.
            if let end = phase.end { await sink.endTransactions(by: end) }

            do throws(KafkaError) {
                guard try await retried({ () throws(KafkaError) in try await sink.initTransactions() }) != nil,
                    let committed = try await retried({ () throws(KafkaError) in try await committedOffsets() })
                else { return }
                return await finishCommitted(committed)
            } catch {
                failure = error
            }
        }
    }

    private func committedOffsets() async throws(KafkaError) -> [AssignedPartition: CommittedOffset] {
        try await source.committedOffsets(of: partitions.all.map(\.id), within: Self.timeToAnswer)
    }

    /// Repeats a query until the brokers answer.
    /// - Returns: `nil` if the worker ended first.
    /// - Throws: an error that a retry does not cure.
    private func retried<Answer>(_ query: () async throws(KafkaError) -> Answer) async throws(KafkaError) -> Answer? {
        var pause = Self.firstPause
        while !phase.isOver(at: loop.now) {
            do throws(KafkaError) {
                return try await query()
            } catch {
                if error.endsProducer { throw error }
                health.noteFailure(error, isExplained: false)
            }

            await loop.pause(pause)
            pause = min(pause * 2, Self.longestPause)
        }
        return nil
    }

    /// Finishes the requests whose outcomes the failed producer's last transaction has published after all.
    /// - Parameter committed: the group's committed offset of each partition.
    private func finishCommitted(_ committed: [AssignedPartition: CommittedOffset]) async {
        for partition in partitions.all {
            guard let next = committed[partition.id] else { continue }
            for entry in ready.removeAll(of: partition, doneBy: next) { settle(entry, isDelivered: true) }
        }

        await offsets.noteCommitted(committed)
        gate.wake()
    }
}
