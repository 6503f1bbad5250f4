internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// Which records of an aborted transaction the brokers refuse, and what becomes of them.
extension TransactionalDelivery {
    /// Finds out which records of an aborted transaction cannot go as they are.
    /// - Returns: whether the failure is that of single outcomes, which no longer stand in the way of others, and whether records were
    ///   purged.
    func noteRefusals(
        of attempt: TransactionAttempt, after failure: KafkaError
    ) async -> (isExplained: Bool, werePurged: Bool) {
        var werePurged = false
        // Every record is aborted with the transaction, whatever its report says.
        var isExplained = noteTopicRefusal(failure, of: attempt.batch)
        if let refused = attempt.refusedAtHandOver,
            noteRefusal(refused.error, of: refused.entry, by: refused.topic, whileAlone: true)
        {
            isExplained = true
        }

        let brokersAreDown = await source.brokersAreDown
        for record in attempt.sent {
            do throws(KafkaError) {
                _ = try await sink.confirm(record.receipt)
            } catch {
                if error.saysRecordWasPurged { werePurged = true }
                if let stall = attempt.stall, !brokersAreDown {
                    noteRefusal(
                        by: record.topic, of: record.entry, reason: failure,
                        isLasting: stall > DeliveryStallDetector.timeout / 2)
                    isExplained = true
                } else if noteRefusal(
                    error, of: record.entry, by: record.topic, whileAlone: attempt.batch.count == 1)
                {
                    isExplained = true
                }
            }
        }
        return (isExplained, werePurged)
    }

    /// Returns `true` for a topic that may be tried, although it may have refused a record before.
    func mayRetry(_ topic: String) -> Bool {
        backoff.retryTime(of: topic).map { $0 <= loop.now } ?? true
    }

    /// Decides what becomes of an outcome one of whose records was refused.
    /// - Returns: `false` for a reason that is over with the transaction.
    private func noteRefusal(
        _ error: KafkaError, of entry: ReadyOutcomes.Entry, by topic: String, whileAlone: Bool
    ) -> Bool {
        switch RefusalCure(error, wasAlone: whileAlone, isTruncated: entry.isTruncated) {
        case .alone: entry.goesAlone = true
        case .truncated:
            entry.isTruncated = true
            entry.outcome = truncatedRecords.truncate(
                entry.outcome, of: entry.request, refusedBy: topic, with: error)
        case .later: noteRefusal(by: topic, of: entry, reason: error)
        case nil: return false
        }
        return true
    }

    private func noteRefusal(
        by topic: String, of entry: ReadyOutcomes.Entry, reason: KafkaError, isLasting: Bool = false
    ) {
        backoff.note(reason, by: topic, isLasting: isLasting)
        entry.refusingTopic = topic
    }

    /// Finds the outcome that a topic refuses, where the transaction as a whole failed for that: a broker that does not let
    /// a topic take part says so before it has seen a record.
    /// - Returns: `true` when the failure is that of single outcomes, which no longer stand in the way of others.
    private func noteTopicRefusal(_ error: KafkaError, of batch: [ReadyOutcomes.Entry]) -> Bool {
        guard error.isTopicRefusal else { return false }

        if let only = batch.first, batch.count == 1, let topic = (only.outcome.deadLetter ?? only.outcome.event)?.topic
        {
            noteRefusal(by: topic, of: only, reason: error)
            return true
        }

        // Most outcomes share two topics. Those with a dead letter are the likeliest to be refused for themselves.
        let suspects = batch.filter { $0.outcome.deadLetter != nil }
        ready.suspect(suspects.isEmpty ? batch : suspects)
        return true
    }
}
