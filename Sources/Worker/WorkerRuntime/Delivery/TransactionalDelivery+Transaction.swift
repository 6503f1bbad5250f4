internal import Basics
internal import EventLoop
internal import Kafka

/// One transaction, from its first record to its commit or its abort.
extension TransactionalDelivery {
    /// Brokers that have not answered the end of a transaction for so long may never do: librdkafka asks a coordinator that is silent
    /// again after `socket.timeout.ms` (60 s). A new producer finds out what became of the transaction. Long against the time in
    /// which another broker becomes the coordinator, 8 to 12 s.
    private static let timeToEnd = Duration.seconds(20)

    /// Runs one transaction, and replaces a producer that can run no further one.
    /// - Returns: `false` when its outcomes may be tried again.
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
    /// - Returns: `false` when it was aborted, so that its outcomes may be tried again.
    /// - Throws: an error after which this producer can run no further transaction, and nobody here knows whether this one has
    ///   taken effect.
    private func commit(_ attempt: inout TransactionAttempt) async throws(KafkaError) -> Bool {
        var failure = await attempt.publish(on: sink, within: timeToConfirm)
        if failure == nil { failure = await sendOffsets(of: attempt) }
        let begin = loop.now
        if failure == nil { failure = await attempt.commit(on: sink) }

        if isPutBack(.failedCommitIsSuccess), attempt.isCommitting { return true }
        // Aborting is no way out of a commit without an answer: it may have taken effect.
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
        return isPutBack(.abortedIsDelivered)
    }

    /// How long the records of a transaction that begins now may take to be confirmed.
    private var timeToConfirm: Duration {
        guard let end = phase.end else { return DeliveryStallDetector.timeout }
        return min(DeliveryStallDetector.timeout, max(.milliseconds(100), loop.now.duration(to: end)))
    }

    /// Adds the offsets to a transaction, in the name of the membership that the worker has once all records are confirmed:
    /// brokers refuse those of a generation that is over.
    /// - Returns: why the brokers do not have them; `nil` when they do.
    private func sendOffsets(of attempt: TransactionAttempt) async -> KafkaError? {
        let membership = await source.membership
        // Checked after the membership was read: an older one, which brokers refuse, does no harm. A partition that was taken away
        // does not count as ours when it is assigned again.
        let areOurs = attempt.nextOffsets.keys.allSatisfy { partitions[$0.id]?.id == $0 }
        guard let membership, areOurs || isPutBack(.ownershipUnchecked) else {
            return TransactionAttempt.partitionsAreGone
        }

        offsets.beginSending()
        defer { offsets.endSending() }
        return await attempt.sendOffsets(on: sink, as: membership)
    }

    /// Aborts a transaction, and finds out which of its records cannot go as they are.
    ///
    /// librdkafka gives the sequence numbers of records that it purges to the records that follow, also where a record was sent before and
    /// stands in the log. Its broker then takes the first record of the next transaction for that one, confirms it, and drops it. So a
    /// producer with purged records runs no further transaction: another one has an epoch of its own, in which numbers begin anew.
    /// - Throws: an error after which this producer can run no further transaction, or not as soon as another one.
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
        // An explained failure ends what held requests up, and nothing else may ever become ready.
        if isExplained { gate.wake() }
        if werePurged, !isPutBack(.purgingProducerKept) {
            throw KafkaError(
                .timedOut,
                "records of an aborted transaction may have been written (\(failure)): others would get their numbers")
        }
    }
}
