internal import Kafka

/// The records that leave for one request. A class, so that passing it through async frames copies one pointer.
final class OutgoingOutcome: Sendable {
    /// The outcome event; `nil` where no error may follow from an error: see `RejectedRecord.deservesEvent`.
    let event: ProducerRecord?
    /// `true` when the event goes to the results topic, `false` for the errors topic.
    let isResult: Bool
    /// The untouched bytes of a record that is no request; `nil` for a request, and for a dead letter that was read as one.
    let deadLetter: ProducerRecord?
    /// The provider calls made for the request, each of which may have cost money.
    let calls: Int

    init(event: ProducerRecord?, isResult: Bool, deadLetter: ProducerRecord? = nil, calls: Int = 0) {
        self.event = event
        self.isResult = isResult
        self.deadLetter = deadLetter
        self.calls = calls
    }

    var eventTopic: DeliveryStallDetector.Topic { isResult ? .results : .errors }

    /// The records to be written, the event first.
    var records: [(record: ProducerRecord, topic: DeliveryStallDetector.Topic)] {
        var records: [(record: ProducerRecord, topic: DeliveryStallDetector.Topic)] = []
        if let event { records.append((event, eventTopic)) }
        if let deadLetter { records.append((deadLetter, .deadLetters)) }
        return records
    }

    /// The size of the records' values.
    var bytes: Int { (event?.value?.count ?? 0) + (deadLetter?.value?.count ?? 0) }
}
