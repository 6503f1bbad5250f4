internal import EventContract
internal import Kafka
internal import LocationSearch
internal import Logging

/// Outcomes and dead letters that Kafka refuses as too large: a request whose outcome can never be written would end
/// each worker that takes it, one after another. So a short one is written in its place.
extension WorkerLane {
    /// Puts the records into the producer's queue, in brief where they are beyond its limit.
    @inline(__always)
    func handOver(
        _ outgoing: inout Outgoing, of flight: Flight, to producer: KafkaProducer
    ) async throws(KafkaError) -> [KafkaProducer.Receipt] {
        var receipts: [KafkaProducer.Receipt] = []
        for index in outgoing.records.indices {
            do throws(KafkaError) {
                receipts.append(try await producer.handOver(outgoing.records[index]))
            } catch {
                try shorten(&outgoing, index, of: flight, after: error)
                receipts.append(try await producer.handOver(outgoing.records[index]))
            }
        }
        return receipts
    }

    /// Returns once the record is written, or the one in its place. With `worker.ordering`, the latter may stand behind
    /// outcomes of later requests.
    @inline(__always)
    func confirm(
        _ receipt: KafkaProducer.Receipt, of outgoing: inout Outgoing, _ index: Int, of flight: Flight,
        by producer: KafkaProducer
    ) async throws(KafkaError) {
        do throws(KafkaError) {
            _ = try await producer.confirm(receipt)
        } catch {
            // It failed for good after it had written this one.
            if error.status == .persisted { return }
            try shorten(&outgoing, index, of: flight, after: error)
            _ = try await producer.send(outgoing.records[index])
        }
    }

    /// Puts the brief form in the place of a record that was refused as too large.
    /// - Throws: any other error, as it is.
    func shorten(
        _ outgoing: inout Outgoing, _ index: Int, of flight: Flight, after error: KafkaError
    ) throws(KafkaError) {
        guard error.kind == .recordTooLarge, outgoing.brief.insert(index).inserted else { throw error }
        let refused = outgoing.records[index]
        log.error(
            "Kafka refuses a record as too large; it is written in brief",
            metadata: [
                "topic": "\(refused.topic)", "bytes": "\(refused.value?.count ?? 0)",
                "request": "\(flight.partition.id.id)@\(flight.offset)", "reason": "\(error)",
            ])
        outgoing.records[index] = brief(flight, calls: outgoing.calls)[index]
    }

    /// An error in place of a result, a dead letter without content in place of a whole one.
    private func brief(_ flight: Flight, calls: Int) -> [ProducerRecord] {
        let (record, now) = (flight.record, EventTime.now())
        let (requestID, outcome): (String, EncodedOutcome)
        var letter: DeadLetter?
        do throws(RejectedRecord) {
            let decoded = try decoder.decode(record)
            let problem = "the result is larger than the results topic takes; ask for less (limit)"
            var error = SearchOutcome(decoded.request, SearchError(.badResponse, problem))
            error.attempts = calls
            requestID = error.requestID
            outcome = encoder.encode(error, for: decoded.envelope, receivedAt: now, completedAt: now)
        } catch {
            requestID = error.requestID
            outcome = encoder.encode(error, receivedAt: now, completedAt: now)
            letter = DeadLetter(record, error: error.error, at: now).withoutContent
        }
        var event = ProducerRecord(outcome, topics: configuration.topics)
        // A key that no request may have is what was too large.
        if let key = event.key, key.count > configuration.maxRequestBytes { event.key = Array(requestID.utf8) }
        return [event] + (letter.map { [ProducerRecord($0, topics: configuration.topics)] } ?? [])
    }
}
