internal import EventContract
internal import Kafka

extension RequestInProgress {
    /// The records that are published for a request.
    struct Outcome {
        /// The outcome event; `nil` if the request must not produce an error event: see `RejectedRecord.deservesEvent`.
        var event: ProducerRecord?
        /// The topic of the event: `results` or `errors`.
        var topic = DeliveryStallDetector.Topic.errors
        /// The unchanged bytes of an invalid record; `nil` for a request, and for a record that is a dead letter already.
        var deadLetter: ProducerRecord?
        /// The number of provider calls made for the request, each of which may have been billed.
        var calls = 0
        /// The number of calls that are wasted if the outcome is not published. Calls that were given up are counted already.
        var callsToWaste = 0

        /// The records of one transaction, in any order. At-least-once delivery writes the dead letter first.
        var records: [(record: ProducerRecord, topic: DeliveryStallDetector.Topic)] {
            var records: [(record: ProducerRecord, topic: DeliveryStallDetector.Topic)] = []
            if let event { records.append((event, topic)) }
            if let deadLetter { records.append((deadLetter, .deadLetters)) }
            return records
        }

        /// The size of the records' values in bytes.
        var bytes: Int {
            (event?.value?.count ?? 0) + (deadLetter?.value?.count ?? 0)  // bounded: sizes of values in memory
        }
    }

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

extension ProducerRecord {
    init(_ letter: DeadLetter, topics: WorkerConfiguration.Topics) {
        self.init(
            topic: topics.deadLetters, key: letter.key, value: letter.value,
            headers: letter.headers)
    }
}
