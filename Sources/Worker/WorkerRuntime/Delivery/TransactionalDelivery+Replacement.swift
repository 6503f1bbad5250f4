internal import Basics
internal import EventLoop
internal import Kafka

/// A transactional producer that can run no further transaction is replaced by one with the same transactional id.
///
/// Both a coordinator that gave a transaction up and a process that took over this worker's transactional id make a producer
/// fail for good, and no error tells one from the other. The group does: offsets are sent in the name of a member, and a
/// static member whose place another process has taken is refused for that (`saysMemberWasReplaced`). Other members cannot
/// be taken for this one, because their transactional ids are made up anew at each start.
extension TransactionalDelivery {
    /// A question about committed offsets is asked again after this time.
    private static let timeToAnswer = Duration.seconds(5)

    /// Goes on with a new producer.
    ///
    /// Its registration ends the transaction that the failed producer may have left, one way or the other. The offsets that
    /// the group then has committed say which: outcomes of earlier requests are published, all others are published again by
    /// the next transaction, without asking the provider again.
    /// - Throws: `failure` where another producer is not allowed or would not help. Ends the worker.
    func replaceProducer(failedWith failure: KafkaError) async throws(KafkaError) {
        var failure = failure
        while !phase.isOver(at: loop.now) {
            guard failure.kind != .closed, !failure.saysMemberWasReplaced else { throw failure }
            try sinks.replace(
                sink, failedWith: failure,
                consequence: "outcomes of an unfinished transaction are published again; providers are not asked again")
            // The new producer has not been told yet that the worker is about to end.
            if let end = phase.end { await sink.endTransactions(by: end) }

            do throws(KafkaError) {
                guard try await keepAsking({ () throws(KafkaError) in try await sink.initTransactions() }) != nil,
                    let committed = try await keepAsking({ () throws(KafkaError) in try await committedOffsets() })
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

    /// Asks the brokers until they answer.
    /// - Returns: `nil` when the worker's end came first.
    /// - Throws: an error that asking again does not cure.
    private func keepAsking<Answer>(
        _ question: () async throws(KafkaError) -> Answer
    ) async throws(KafkaError) -> Answer? {
        var pause = Self.firstPause
        while !phase.isOver(at: loop.now) {
            do throws(KafkaError) {
                return try await question()
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
    /// - Parameter committed: where the group continues in each partition.
    private func finishCommitted(_ committed: [AssignedPartition: CommittedOffset]) async {
        if isPutBack(.replacementPublishesAll) { return }
        for partition in partitions.all {
            guard var next = committed[partition.id] else { continue }
            if isPutBack(.replacementDropsAll) { next.offset = .max }
            for entry in ready.removeAll(of: partition, doneBy: next) { settle(entry, isDelivered: true) }
        }

        await offsets.noteCommitted(committed)
        gate.wake()
    }
}
