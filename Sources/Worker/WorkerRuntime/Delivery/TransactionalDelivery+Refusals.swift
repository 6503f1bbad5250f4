internal import EventLoop
internal import Kafka
internal import Logging

/// Finds the records of an aborted transaction that the brokers refuse, and decides how to retry them.
extension TransactionalDelivery {
    /// Finds out which records of an aborted transaction cannot be retried unchanged.
    /// - Returns: whether single outcomes caused the failure, so that others are no longer blocked, and whether records
    ///   were purged.
    func noteRefusals(
        of attempt: TransactionAttempt, after failure: KafkaError
    ) async -> (isExplained: Bool, werePurged: Bool) {
        var werePurged = false
        // All records are aborted with the transaction, including those with a successful delivery report.
        var isExplained = noteTopicRefusal(failure, of: attempt.batch)
        if let refused = attempt.refusedAtHandOver,
            noteRefusal(refused.error, of: refused.entry, by: refused.topic, wasAlone: true)
        {
            isExplained = true
        }

        let brokersAreDown = await source.brokersAreDown
        for record in attempt.sent {
            do throws(KafkaError) {
                _ = try await sink.confirm(record.receipt)
            } catch {
                if error.isRecordPurged { werePurged = true }
                if let stall = attempt.stall, !brokersAreDown {
                    noteRefusal(
                        by: record.topic, of: record.entry, reason: failure,
                        isLasting: stall > DeliveryStallDetector.timeout / 2)
                    isExplained = true
                } else if noteRefusal(
                    error, of: record.entry, by: record.topic, wasAlone: attempt.batch.count == 1)
                {
                    isExplained = true
                }
            }
        }
        return (isExplained, werePurged)
    }

    /// Returns `true` if the topic may be tried now, even if it has refused a record before.
    func mayRetry(_ topic: String) -> Bool {
        backoff.retryTime(of: topic).map { $0 <= loop.now } ?? true
    }

    /// Decides how to retry an outcome after one of its records was refused.
    /// - Returns: `false` if the reason ended with the transaction.
    private func noteRefusal(
        _ error: KafkaError, of entry: ReadyOutcomes.Entry, by topic: String, wasAlone: Bool
    ) -> Bool {
        switch RefusalCure(error, wasAlone: wasAlone, isTruncated: entry.isTruncated) {
        case .alone: entry.goesAlone = true
        case .truncated:
            entry.isTruncated = true
            if entry.request.outcome.topic == .results { meters.requests.countTruncated() }
            truncatedRecords.truncate(entry.request, refusedBy: topic, with: error)
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

    /// Finds the outcome whose topic made the whole transaction fail: a broker that refuses to add a topic does so
    /// before it has seen a record.
    /// - Returns: `true` if single outcomes caused the failure, so that others are no longer blocked.
    private func noteTopicRefusal(_ error: KafkaError, of batch: [ReadyOutcomes.Entry]) -> Bool {
        guard error.isTopicRefusal else { return false }

        if let only = batch.first, batch.count == 1, case let outcome = only.request.outcome,
            let topic = (outcome.deadLetter ?? outcome.event)?.topic
        {
            noteRefusal(by: topic, of: only, reason: error)
            return true
        }

        // Most outcomes use the same two topics, so those with a dead letter are the likeliest cause.
        let suspects = batch.filter { $0.request.outcome.deadLetter != nil }
        ready.suspect(suspects.isEmpty ? batch : suspects)
        return true
    }
}
