internal import Kafka

/// The questions that a delivery asks of an error.
extension KafkaError {
    /// `true` when the producer that the error came from can write nothing more, or is held by a call.
    var endsProducer: Bool {
        switch kind {
        case .fatal, .fenced, .hung, .closed: true
        default: false
        }
    }

    /// `true` when the same call about a transaction may succeed later.
    var mayPass: Bool {
        switch kind {
        case .retriable, .timedOut, .unreachable: true
        default: false
        }
    }
}
