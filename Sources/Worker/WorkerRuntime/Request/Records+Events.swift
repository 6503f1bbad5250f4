package import EventContract
package import Kafka

extension IncomingRecord {
    /// Converts a consumer record. Copies no bytes.
    package init(_ record: ConsumerRecord) {
        self.init(
            source: SourcePosition(
                topic: record.partition.id.topic, partition: record.partition.id.partition, offset: record.offset),
            timestamp: record.timestamp.map { WallTime(milliseconds: $0) }, key: record.key, value: record.value,
            headers: record.headers)
    }
}

extension ProducerRecord {
    init(_ outcome: EncodedOutcome, topics: WorkerConfiguration.Topics) {
        self.init(
            topic: outcome.kind == .result ? topics.results : topics.errors, key: outcome.key, value: outcome.value,
            headers: outcome.headers)
    }

    init(_ letter: DeadLetter, topics: WorkerConfiguration.Topics) {
        self.init(
            topic: topics.deadLetters, key: letter.key, value: letter.value,
            headers: letter.headers)
    }
}

extension RequestInProgress {
    /// Returns the dead letter of the request's record, which is invalid or crashes processes.
    /// - Parameters:
    ///   - worker: the name by which operators know this worker.
    ///   - time: the time at which the record is set aside.
    func deadLetter(for rejected: RejectedRecord, worker: String?, at time: WallTime) -> DeadLetter {
        DeadLetter(
            record, error: rejected.error, reason: isSetAside ? DeadLetter.crashedWorkers : nil,
            isOutcome: rejected.outcome != nil, at: time, worker: worker,
            tries: isSetAside ? partition.commits.watch.ends : nil)
    }
}
