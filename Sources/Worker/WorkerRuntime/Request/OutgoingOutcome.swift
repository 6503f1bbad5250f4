internal import Kafka

/// The records that are published for one request. A class, so that passing it through async frames copies one pointer.
final class OutgoingOutcome: Sendable {
    /// The outcome event; `nil` if the request must not produce an error event: see `RejectedRecord.deservesEvent`.
    let event: ProducerRecord?
    /// `true` if the event goes to the results topic, `false` for the errors topic.
    let isResult: Bool
    /// The unchanged bytes of an invalid record; `nil` for a request, and for a record that is a dead letter already.
    let deadLetter: ProducerRecord?
    /// The number of provider calls made for the request, each of which may have been billed.
    let calls: Int

    init(event: ProducerRecord?, isResult: Bool, deadLetter: ProducerRecord? = nil, calls: Int = 0) {
        self.event = event
        self.isResult = isResult
        self.deadLetter = deadLetter
        self.calls = calls
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
    var bytes: Int { (event?.value?.count ?? 0) + (deadLetter?.value?.count ?? 0) }
}
