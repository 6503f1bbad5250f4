internal import EventLoop
internal import Kafka

/// Runs one transaction, from its first record to its commit or abort.
extension TransactionalDelivery {
    /// Brokers that have not answered the end of a transaction for this long may never answer: librdkafka asks a silent
    /// coordinator again after `socket.timeout.ms` (60 s). A new producer finds out whether the transaction was
    /// committed. The time is long compared with the 8 to 12 s in which another broker becomes the coordinator.
    private static let timeToEnd = Duration.seconds(20)

    /// Runs one transaction, and replaces a producer that can run no further one.
    /// - Returns: `false` if its outcomes may be retried.
    func run(_ attempt: inout TransactionAttempt) async throws(KafkaError) -> Bool {
        offsets.begin(attempt.nextOffsets)
        defer { offsets.end() }

        do throws(KafkaError) {
            return try await commit(&attempt)
        } catch {
            try await replaceProducer(failedWith: error)
            return false
        }
    }

    /// Runs one transaction to its end.
    /// - Returns: `false` if it was aborted, so that its outcomes may be retried.
    /// - Throws: an error after which this producer can run no further transaction. It is then unknown whether this one
    ///   has taken effect.
    private func commit(_ attempt: inout TransactionAttempt) async throws(KafkaError) -> Bool {
        var failure = await attempt.publish(on: sink, within: timeToConfirm)
        if failure == nil { failure = await sendOffsets(of: attempt) }
        let begin = loop.now
        if failure == nil { failure = await attempt.commit(on: sink) }

        // A commit without an answer must not be followed by an abort: it may have taken effect.
        while let error = failure, attempt.isCommitting, error.mayPass {
            if phase.isOver(at: loop.now) {
                health.noteBrokersAreSilent(error)
                return false
            }
            guard loop.now < begin + Self.timeToEnd else { throw error }
            health.noteFailure(error, isExplained: false)
            await loop.pause(Self.firstPause)
            failure = await attempt.commit(on: sink)
        }

        guard let failure else { return true }
        try await abort(attempt, after: failure)
        return false
    }

    /// The longest time for which records of a transaction that begins now may be unconfirmed.
    private var timeToConfirm: Duration {
        guard let end = phase.end else { return DeliveryStallDetector.timeout }
        return min(DeliveryStallDetector.timeout, max(.milliseconds(100), loop.now.duration(to: end)))
    }

    /// Adds the offsets to a transaction once all records are acknowledged. It uses the worker's current membership,
    /// because brokers refuse offsets of an old generation.
    /// - Returns: the reason why the brokers do not have the offsets; `nil` if they do.
    private func sendOffsets(of attempt: TransactionAttempt) async -> KafkaError? {
        let membership = await source.membership
        // Checked after the membership was read: an outdated membership is harmless, because brokers refuse it. A
        // partition that was revoked and assigned again is a different assignment.
        let areOwned = attempt.nextOffsets.keys.allSatisfy { partitions[$0.id]?.id == $0 }
        guard let membership, areOwned else { return TransactionAttempt.partitionsWereRevoked }

        offsets.beginSending()
        defer { offsets.endSending() }
        return await attempt.sendOffsets(on: sink, as: membership)
    }

    /// Aborts a transaction, and finds out which of its records cannot be retried unchanged.
    ///
    /// librdkafka reuses the sequence numbers of purged records for the following records, even if a purged record was
    /// sent and is in the log. The broker then takes the first record of the next transaction for that record,
    /// acknowledges it, and drops it. A producer with purged records therefore runs no further transaction. A new
    /// producer has a new epoch, in which sequence numbers begin again.
    /// - Throws: an error after which this producer can run no further transaction, or only later than a new one.
    private func abort(_ attempt: TransactionAttempt, after failure: KafkaError) async throws(KafkaError) {
        if failure.endsProducer { throw failure }
        offsets.noteAborted(attempt, after: failure)

        let begin = loop.now
        while true {
            do throws(KafkaError) {
                try await sink.abortTransaction()
                break
            } catch {
                if phase.isOver(at: loop.now) { return health.noteBrokersAreSilent(error) }
                guard error.mayPass, loop.now < begin + Self.timeToEnd else { throw error }
                health.noteFailure(error, isExplained: false)
                await loop.pause(Self.firstPause)
            }
        }

        let (isExplained, werePurged) = await noteRefusals(of: attempt, after: failure)
        health.noteFailure(failure, isExplained: isExplained)
        // An explained failure resumes intake. Without requests, nothing else might become ready.
        if isExplained { gate.wake() }
        if werePurged {
            throw KafkaError(
                .timedOut,
                "records of an aborted transaction may be in the log (\(failure)), so their sequence numbers cannot be reused"
            )
        }
    }
}
