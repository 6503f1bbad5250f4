internal import Kafka

/// Classifies errors for the delivery of outcomes.
extension KafkaError {
    /// `true` if the producer that returned this error can write nothing more, or is blocked in a call.
    var endsProducer: Bool {
        switch kind {
        case .fatal, .fenced, .hung, .closed: true
        default: false
        }
    }

    /// `true` if the same transactional call may succeed later.
    var mayPass: Bool {
        switch kind {
        case .retriable, .timedOut, .unreachable: true
        default: false
        }
    }
}
