internal import EventContract
internal import Kafka

/// The records that are published for one request. A class, so that passing it on copies one pointer.
final class OutgoingOutcome: Sendable {
    /// The outcome event; `nil` if the request must not produce an error event: see `RejectedRecord.deservesEvent`.
    let event: ProducerRecord?
    /// `true` if the event goes to the results topic, `false` for the errors topic.
    let isResult: Bool
    /// The unchanged bytes of an invalid record; `nil` for a request, and for a record that is a dead letter already.
    let deadLetter: ProducerRecord?
    /// The number of provider calls made for the request, each of which may have been billed.
    let calls: Int
    /// The number of calls that are wasted if the outcome is not published. Calls that were given up are counted already.
    let callsToWaste: Int

    init(event: ProducerRecord?, isResult: Bool, deadLetter: ProducerRecord? = nil, calls: Int = 0, givenUp: Int = 0) {
        (self.event, self.isResult, self.deadLetter) = (event, isResult, deadLetter)
        (self.calls, callsToWaste) = (calls, calls - givenUp)
    }

    var eventTopic: DeliveryStallDetector.Topic { isResult ? .results : .errors }

    /// The records to write, the event first.
    var records: [(record: ProducerRecord, topic: DeliveryStallDetector.Topic)] {
        var records: [(record: ProducerRecord, topic: DeliveryStallDetector.Topic)] = []
        if let event { records.append((event, eventTopic)) }
        if let deadLetter { records.append((deadLetter, .deadLetters)) }
        return records
    }

    /// The size of the records' values in bytes.
    var bytes: Int {
        (event?.value?.count ?? 0) + (deadLetter?.value?.count ?? 0)  // bounded: sizes of values in memory
    }
}

extension ProducerRecord {
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
